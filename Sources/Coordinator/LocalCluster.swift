internal import ClusterProtocol
internal import Foundation
internal import JobStore
internal import Messaging
internal import Scheduling
internal import Stitching
internal import Worker

/// A coordinator and one node of slots on this machine, speaking over a private socket directory.
final class LocalCluster {
    private let directory: IPCDirectory
    private let link = CoordinatorLink()
    private let storage = SerialThread(name: "weft-storage")
    private let supervisor: NodeSupervisor

    init(
        _ plan: PlannedExport, runner: JobRunner, directory job: JobDirectory, board: SegmentBoard,
        telemetry: Telemetry, slots: Int
    ) throws(Failure) {
        let order = runner.order
        let (storage, link) = (storage, link)
        let store = StoreBox(job.store)
        let firstLease = job.firstLease
        let address: String
        do throws(MessagingError) {
            directory = try IPCDirectory()
            job.traces.add(directory.path)
            address = try directory.address("slots")
            let endpoint = try RouterEndpoint(
                context: MessageContext(), bindings: [Binding(address)], name: "weft-coordinator",
                tick: .milliseconds(200)
            ) { sender in
                CoordinatorHandler(
                    sender: sender, link: link, storage: storage, store: store, firstLease: firstLease,
                    options: CoordinatorHandler.Options(storagePatience: 20))
            }
            link.attach(endpoint)
        } catch {
            storage.close()
            throw Failure(
                .transport, "The private socket for the slots cannot be made: \(error)",
                advice: "Check that the temporary directory can be written.", fault: .environment, exitCode: .temporary)
        }
        var runtime = JobRuntime(
            id: JobID(plan.id), recipe: plan.recipe, source: plan.source, segments: plan.segments, spool: job.spool,
            board: board, stallSeconds: order.settings.stallSeconds, telemetry: telemetry)
        runtime.count(job.finished.values)
        let submitted = runtime
        let id = JobID(plan.id)
        board.onDamage { index, failure in link.perform { $0.redo(id, index, failure) } }
        let spec = runner.spec(plan, id: id)
        let progress = JobProgress(state: .running, finished: job.finished.mapValues(\.hash))
        link.perform { $0.submit(submitted, spec: spec, progress: progress) }
        supervisor = NodeSupervisor(
            .init(executable: order.executable, endpoint: address, node: "local", slots: slots, isPrivate: true)
        ) { event in
            switch event {
            case .replaced(let slot, let end):
                telemetry.repair("Slot \(slot) was replaced: its process \(Self.words(end)).")
            case .unusable(let failure): board.fail(failure)
            case .drained, .noted: break
            }
        }
    }

    private static func words(_ end: ProcessEnd) -> String {
        switch end.cause {
        case .exited: "ended with status \(end.code)"
        case .signalled: "was ended by signal \(end.code)"
        case .stalled: "hung and was killed"
        case .unstarted: "could not be started"
        }
    }

    /// Publishes the account of the leases.
    func summarize(_ plan: PlannedExport) {
        let asked = DispatchSemaphore(value: 0)
        let id = JobID(plan.id)
        link.perform { handler in
            handler.summarize(id)
            asked.signal()
        }
        _ = asked.wait(timeout: .now() + 5)
    }

    /// Ends the slots, what is being stored, and the endpoint.
    func stop() {
        supervisor.stop()
        link.detach()
        storage.close()
        directory.remove()
    }
}

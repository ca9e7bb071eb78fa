import Testing

@testable import Placement

@Suite("Slurm") struct SlurmTests {
    private let engine = SlurmEngine(
        WorkerOrder(
            program: "/opt/it's here/weft", coordinator: "tcp://10.0.0.1:7733", keyFile: "/keys/a b", slots: 2,
            threads: 3, drainSeconds: 20),
        options: .init(partition: "idle", extra: ["--mem=4G"]))

    @Test("Only workers of this coordinator are taken for its own, by name and comment")
    func own() {
        let text = """
            12|RUNNING|weft-worker|weft tcp://10.0.0.1:7733
            13|PENDING|weft-worker|weft tcp://10.0.0.1:7733
            14|COMPLETING|weft-worker|weft tcp://10.0.0.1:7733
            15|RUNNING|weft-worker|weft tcp://10.0.0.2:7733
            16|RUNNING|other|weft tcp://10.0.0.1:7733
            17|RUNNING|weft-worker|(null)
            slurm_load_jobs warning
            """
        let workers = SlurmEngine.workers(in: text, comment: "weft tcp://10.0.0.1:7733")
        #expect(
            workers == [
                PlacedWorker(id: "12", node: "slurm-12", hasStarted: true),
                PlacedWorker(id: "13", node: "slurm-13", hasStarted: false),
                PlacedWorker(id: "14", node: "slurm-14", hasStarted: false, isEnding: true),
            ])
    }

    @Test("The batch script hands every word over as it is, whatever is in it")
    func script() {
        #expect(
            engine.script == """
                #!/bin/sh
                exec '/opt/it'\\''s here/weft' 'worker' '--coordinator' 'tcp://10.0.0.1:7733' --name "slurm-$SLURM_JOB_ID" \
                --slots 2 --threads 3 --drain-timeout 20 --key '/keys/a b'

                """)
    }

    @Test("A job asks for the cores of its slots, is signalled in time to drain, and takes the user's own options last")
    func arguments() {
        let words = engine.arguments
        #expect(words.last == "--mem=4G")
        for (option, value) in [("--cpus-per-task", "6"), ("--signal", "B:TERM@50"), ("--partition", "idle")] {
            let place = words.firstIndex(of: option)
            #expect(place.map { words[$0 + 1] } == value, "\(option)")
        }
    }
}

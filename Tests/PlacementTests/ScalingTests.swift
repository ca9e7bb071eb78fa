import Testing

@testable import Placement

@Suite("Scaling") struct ScalingTests {
    private let scaling = Scaling(minimum: 0, maximum: 4, slots: 2, idleSeconds: 30)

    private func workers(_ states: Scaling.Worker.State...) -> [Scaling.Worker] {
        states.enumerated().map { Scaling.Worker(id: "\($0.offset)", state: $0.element) }
    }

    @Test("Waiting segments bring as many workers as their slots are needed, and never more than the maximum")
    func grows() {
        #expect(scaling.decide(.init(waiting: 3), []).submit == 2)
        #expect(scaling.decide(.init(waiting: 1000), []).submit == 4)
        #expect(scaling.decide(.init(waiting: 1000), workers(.queued, .connecting, .busy)).submit == 1)
        #expect(scaling.decide(.init(waiting: .max / 2, running: .max / 2), []).submit == 4)
    }

    @Test("Slots of workers that others started are counted")
    func foreign() {
        #expect(scaling.decide(.init(waiting: 3, foreignSlots: 2), []).submit == 1)
        #expect(scaling.decide(.init(waiting: 3, foreignSlots: 8), []).isNothing)
    }

    @Test("A worker that is leaving still holds its place below the maximum")
    func leaving() {
        let decision = scaling.decide(.init(waiting: 100), workers(.draining, .draining, .busy))
        #expect(decision == .init(submit: 1))
    }

    @Test("Without work everybody goes: what has not begun at once, the idle when they have been for long enough")
    func shrinks() {
        let decision = scaling.decide(.init(), workers(.idle(10), .idle(40), .queued, .connecting))
        #expect(decision == .init(drain: ["1"], cancel: ["2", "3"]))
    }

    @Test("The busy are left alone, however little work is left")
    func busy() {
        #expect(scaling.decide(.init(running: 1), workers(.busy, .busy, .busy)).isNothing)
    }

    @Test("Above the maximum the idle go before the busy, and no more than needed")
    func excess() {
        let decision = scaling.decide(.init(waiting: 99), workers(.busy, .busy, .idle(0), .busy, .busy, .busy))
        #expect(decision == .init(drain: ["2", "5"]))
    }

    @Test("The minimum is there without work, and is not taken away")
    func minimum() {
        let scaling = Scaling(minimum: 2, maximum: 4, slots: 1, idleSeconds: 0)
        #expect(scaling.decide(.init(), []).submit == 2)
        #expect(scaling.decide(.init(), workers(.idle(99), .idle(98))).isNothing)
        #expect(scaling.decide(.init(), workers(.idle(99), .idle(98), .idle(97))).drain == ["0"])
    }

    @Test("A look after another comes to rest: what was decided asks for nothing more")
    func settles() {
        for waiting in 0..<12 {
            for there in 0...4 {
                let before = (0..<there).map { Scaling.Worker(id: "\($0)", state: .idle(60)) }
                let backlog = Scaling.Backlog(waiting: waiting)
                let decision = scaling.decide(backlog, before)
                var after = before.filter { !decision.drain.contains($0.id) && !decision.cancel.contains($0.id) }
                after += (0..<decision.submit).map { Scaling.Worker(id: "new\($0)", state: .queued) }
                #expect(scaling.decide(backlog, after).isNothing, "\(waiting) segments, \(there) workers")
                #expect(after.count <= 4)
            }
        }
    }
}

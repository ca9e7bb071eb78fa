internal import Foundation

/// Keeps a codec to the scheduling class that its caller has.
///
/// SVT-AV1 puts its threads, and the one that opens it, into the real-time class where it may, as root: they, and all threads and
/// processes that these start, then starve whatever else the machine runs, heartbeats included (sched(7)).
enum SchedulingClass {
    static func kept<Result>(during body: () -> Result) -> Result {
        #if os(Linux)
            let isOrdinary = sched_getscheduler(0) == SCHED_OTHER
            defer { if isOrdinary { leaveRealTime() } }
        #endif
        return body()
    }

    #if os(Linux)
        private static func leaveRealTime() {
            let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            for task in tasks.compactMap(pid_t.init) where [SCHED_FIFO, SCHED_RR].contains(sched_getscheduler(task)) {
                var priority = sched_param(sched_priority: 0)
                sched_setscheduler(task, SCHED_OTHER, &priority)
            }
        }
    #endif
}

internal import Foundation

/// Every connected slot and client takes a descriptor, and the usual soft limit of 1024 is there for programs that use select(2).
enum DescriptorLimit {
    /// Raises the soft limit to the hard one.
    /// - Returns: how many descriptors there may be.
    @discardableResult
    static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return 1024 }
        guard limit.rlim_cur < limit.rlim_max else { return Int(clamping: limit.rlim_cur) }
        let before = limit.rlim_cur
        // Darwin refuses more than OPEN_MAX where the hard limit is infinite (setrlimit(2)).
        limit.rlim_cur = min(limit.rlim_max, 1 << 20)
        return Int(clamping: setrlimit(kind, &limit) == 0 ? limit.rlim_cur : before)
    }

    #if canImport(Glibc)
        private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let kind = RLIMIT_NOFILE
    #endif
}

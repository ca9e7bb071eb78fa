import Foundation

/// A library that, loaded before libavcodec, ends a slot with SIGSEGV where it decodes the sample of a certain time: a decoder's bug.
/// The slot's process is really gone, and the program has no part in it.
enum CrashingDecoder {
    private static let code = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        struct AVPacket { void *buf; int64_t pts; };
        static int isSlot(void) {
            char words[64] = {0};
            FILE *file = fopen("/proc/self/cmdline", "r");
            if (!file) return 0;
            int c;
            while ((c = fgetc(file)) > 0) {}
            size_t count = fread(words, 1, sizeof words - 1, file);
            fclose(file);
            return count > 4 && strcmp(words, "slot") == 0;
        }
        int avcodec_send_packet(void *context, const struct AVPacket *packet) {
            int (*next)(void *, const struct AVPacket *) = dlsym(RTLD_NEXT, "avcodec_send_packet");
            const char *at = getenv("CRASH_AT");
            if (at && packet && packet->pts == atoll(at) && isSlot()) *(volatile int *)0 = 1;
            return next(context, packet);
        }
        """

    /// - Returns: the library's path; `nil` where there is no compiler.
    static func make(in folder: String) throws -> String? {
        let source = folder + "/crash.c", library = folder + "/crash.so"
        try code.write(toFile: source, atomically: true, encoding: .utf8)
        for compiler in ["clang", "cc"] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"]
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            if process.terminationStatus == 0 { return library }
        }
        print("skipped: there is no C compiler to make a crashing decoder with")
        return nil
    }
}

/// Euclid's algorithm; narrows to 64 bits as soon as it can, as 128-bit division is a library call.
/// The result is 0 only when both are.
func greatestCommonDivisor(_ first: UInt128, _ second: UInt128) -> UInt128 {
    var (a, b) = (first, second)
    while b != 0 {
        if a <= UInt128(UInt64.max), b <= UInt128(UInt64.max) {
            return UInt128(greatestCommonDivisor(UInt64(a), UInt64(b)))
        }
        (a, b) = (b, a % b)
    }
    return a
}

func greatestCommonDivisor(_ first: UInt64, _ second: UInt64) -> UInt64 {
    var (a, b) = (first, second)
    while b != 0 { (a, b) = (b, a % b) }
    return a
}

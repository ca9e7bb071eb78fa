internal import CFFmpeg
internal import MediaTime

extension AVRational {
    init(_ timeBase: TimeBase) { self.init(num: timeBase.numerator, den: timeBase.denominator) }

    /// 0/1 is libav's "unknown".
    init(_ rational: Rational?) { self = rational?.libav ?? AVRational(num: 0, den: 1) }
}

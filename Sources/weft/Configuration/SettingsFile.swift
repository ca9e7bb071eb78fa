internal import Foundation

/// A preset or a configuration file: a JSON5 object whose keys are option names with `_` for `-`.
struct SettingsFile: Sendable {
    enum Kind: Sendable {
        /// Only options that describe the result.
        case preset
        /// Every setting of every command; a command takes those it has.
        case configuration
    }

    /// What the file says of itself.
    var summary = ""
    var layer = SettingLayer()

    /// - Parameter path: names the file in messages.
    /// - Throws: `ConfigurationError` for bad JSON5, an unknown key or a value of the wrong kind.
    init(_ data: Data, path: String, kind: Kind) throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        let object: [String: SettingsFileValue]
        do {
            object = try decoder.decode([String: SettingsFileValue].self, from: data)
        } catch {
            throw ConfigurationError(place: path, message: "not a JSON5 object of settings: \(Self.reason(of: error))")
        }
        let known = Self.options(of: kind)
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            if key == "description", case .text(let text) = value {
                summary = text
                continue
            }
            guard let option = known.first(where: { Self.keys(of: $0).contains(key) }) else {
                let words = known.map { Self.keys(of: $0)[0] } + ["description"]
                let suggestion = Suggestion.sentence(for: key, among: words)
                throw ConfigurationError(place: path, message: "unknown key '\(key)'.\(suggestion)")
            }
            layer.origins[option.name] = .file(path, key: key)
            layer.values[option.name] = try Self.words(of: value, for: option, place: path, key: key)
        }
    }

    init(path: String, kind: Kind) throws {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ConfigurationError(place: path, message: "cannot be read: \(Self.reason(of: error))")
        }
        try self.init(data, path: path, kind: kind)
    }

    private static func options(of kind: Kind) -> [OptionEntry] {
        switch kind {
        case .preset: OptionTable.result.filter { !["preset", "start", "end"].contains($0.name) }
        case .configuration: OptionTable.settings
        }
    }

    /// `encoder_options` is how a file says what `--encoder-option` says once each.
    private static func keys(of option: OptionEntry) -> [String] {
        option.isRepeatable ? [option.fileKey + "s", option.fileKey] : [option.fileKey]
    }

    private static func words(
        of value: SettingsFileValue, for option: OptionEntry, place: String, key: String
    ) throws -> [String]? {
        switch (value, option.value == nil, option.isRepeatable) {
        case (.truth(let isOn), true, _): return isOn ? [""] : nil
        case (.text(let text), false, false): return [text]
        case (.text(let text), false, true): return [text]
        case (.object(let pairs), false, true):
            return pairs.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }
        case (.list(let texts), false, true): return texts.map(\.text)
        default:
            let wanted =
                option.value == nil ? "true or false" : option.isRepeatable ? "an object of options" : "one value"
            throw ConfigurationError(place: place, message: "\(key) wants \(wanted).")
        }
    }

    private static func reason(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return error.localizedDescription }
        switch error {
        case .dataCorrupted(let context):
            let underlying = context.underlyingError as NSError?
            return (underlying?.userInfo[NSDebugDescriptionErrorKey] as? String) ?? context.debugDescription
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context):
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
        @unknown default: return "\(error)"
        }
    }
}

/// A value in a settings file, as the text that the same option would have on the command line.
enum SettingsFileValue: Decodable, Sendable {
    struct Scalar: Decodable, Sendable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                text = String(number)
            } else if let number = try? container.decode(Double.self) {
                text = String(number)
            } else if let truth = try? container.decode(Bool.self) {
                text = truth ? "1" : "0"
            } else {
                text = try container.decode(String.self)
            }
        }
    }

    case text(String)
    case truth(Bool)
    case list([Scalar])
    case object([String: Scalar])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let truth = try? container.decode(Bool.self) {
            self = .truth(truth)
        } else if let scalar = try? container.decode(Scalar.self) {
            self = .text(scalar.text)
        } else if let list = try? container.decode([Scalar].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: Scalar].self))
        }
    }
}

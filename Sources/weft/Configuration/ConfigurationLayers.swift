internal import Foundation

/// Collects every place that states settings for a command.
enum ConfigurationLayers {
    /// Strongest first: flags, variables, the configuration file, the preset that one of them names.
    static func read(for invocation: Invocation, presets: PresetLibrary) throws -> [SettingLayer] {
        let command = invocation.command
        var layers = [SettingLayer(flagsOf: invocation)]
        layers.append(try SettingLayer(variables: invocation.environment, for: command))
        if let path = try configurationFile(of: invocation) {
            var layer = try SettingsFile(path: path, kind: .configuration).layer
            layer.values = layer.values.filter { command.option(named: $0.key) != nil }
            try layer.checkChoices(for: command)
            layers.append(layer)
        }
        if let name = layers.lazy.compactMap({ $0.values["preset"]?.last }).first {
            let preset = try presets.preset(name)
            try preset.layer.checkChoices(for: command)
            layers.append(preset.layer)
        }
        return layers
    }

    /// The file that was named, which must exist, or the user's own where there is one.
    private static func configurationFile(of invocation: Invocation) throws -> String? {
        if let named = invocation.value(of: "config") ?? invocation.environment["WEFT_CONFIG"], !named.isEmpty {
            return named
        }
        let own = PresetLibrary.userDirectory(invocation.environment) + "/config.json5"
        return FileManager.default.fileExists(atPath: own) ? own : nil
    }
}

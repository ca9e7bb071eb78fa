/// What the commands that only look at media do: `probe`, `plan`, `verify`, `capabilities`, one file each.
enum SourceEngine {}

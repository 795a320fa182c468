// What a command is: its declaration, its parser, its tables and the schemas of its JSON; and the declarations of `skerry admin`,
// which the CLI parses and a program of the cloud runs.
export { adminCommands } from './admin/commands.ts'
export { consoleAdmin } from './admin/consoles.ts'
export { CLOUD_CONFIG, type AdminDeclaration } from './admin/declare.ts'
export { hostAdmin } from './admin/hosts.ts'
export { parseAdmin } from './admin/parse-admin.ts'
export { serverAdmin } from './admin/servers.ts'
export { tenantAdmin } from './admin/tenants.ts'
export { zoneAdmin } from './admin/zones.ts'
export {
  places,
  type Args,
  type CommandDeclaration,
  type Option,
  type Options,
  type OptionValues,
  type Place,
} from './declaration.ts'
export { commandsIn, editDistance, findCommand, isGroup, nextWords } from './find-command.ts'
export { parseLine, type ParsedLine } from './parse.ts'
export {
  anyOf,
  byName,
  listOf,
  number,
  object,
  orNull,
  text,
  truth,
  whyNotOf,
  type OutputShape,
} from './shape.ts'
export { mebibytes, printable, renderTable, type TableColumn } from './table.ts'

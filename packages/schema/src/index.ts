// @skerry/schema: typebox in one file, which `npm ci` builds. Its 680 modules take a third of a second of processor time to load.
export { Type, type Static, type TObject, type TSchema } from 'typebox'
export { Compile, type Validator } from 'typebox/compile'

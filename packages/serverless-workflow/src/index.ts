// @skerry/serverless-workflow: parses, checks, draws and runs definitions of the Serverless Workflow DSL.
export type { Complaint, DefinitionDocument, WorkflowDefinition } from './definition/definition.ts'
export { DEFINITION_LIMITS } from './definition/limits.ts'
export { schemaFormats, schemaWords } from './definition/schema-words.ts'
export { INTERACTION_EVENT, type Interaction } from './definition/task.ts'
export { drawWorkflow } from './drawing/draw.ts'
export { marksOf, type Marks } from './drawing/marks.ts'
export { outlineWorkflow } from './drawing/outline.ts'
export {
  checkForm,
  fieldsOf,
  type CheckedInputs,
  type Field,
  type FindInvalid,
} from './forms/inputs.ts'
export {
  fromParameters,
  parametersOf,
  toParameters,
  type Parameter,
  type ParameterValue,
} from './forms/parameters.ts'
export * from './interpreter.ts'
export { definitionOf, parseAndCompile, parseDefinition, type ParseResult } from './parse/parse.ts'
export { refused, type UnsupportedFeature } from './parse/refused.ts'
export { dslVersions } from './parse/subset.ts'

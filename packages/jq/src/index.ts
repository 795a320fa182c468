// @skerry/jq: jq expressions and JSON Schemas of strangers, evaluated in threads with limits.
export { startEvaluator, type Evaluator, type EvaluatorOptions } from './evaluate.ts'
export type { Evaluated, Evaluation, InvalidValue, Json, JsonObject } from './json.ts'
export { whyNotPattern } from './pattern.ts'

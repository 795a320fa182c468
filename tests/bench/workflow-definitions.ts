import { definitionOf } from '../../packages/serverless-workflow/test/scenarios.ts'

/** Expressions that only jq can evaluate, in the run with calls. */
const CALLS = [true, false, true, false, true]
/** Steps with one such expression, in the run that does nothing else. */
export const EXPRESSIONS = 10

const steps = (give: (n: number) => string): string =>
  Array.from(
    { length: EXPRESSIONS },
    (_, n) => `- set-${n}: { set: { n: '\${ ${give(n)} }' } }`,
  ).join('\n')

/** By name, in YAML. `calls` does the same as bare-run.ts without a definition. */
export const definitions = {
  calls: definitionOf(
    'calls',
    CALLS.map(
      (adds, n) =>
        `- call-${n}: { call: skerry.test.yes, with: { name: '\${ .name }', n: '\${ .n${adds ? ' + 1' : ''} }' }, output: { as: .input } }`,
    ).join('\n'),
  ),
  expressions: definitionOf(
    'expressions',
    steps(() => '.n + 1'),
  ),
  paths: definitionOf(
    'paths',
    steps(() => '.n'),
  ),
} as const

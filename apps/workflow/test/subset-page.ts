import { archiveEntries } from '../src/archive/manifest.ts'
import { DEFINITION_LIMITS } from '../src/definition/limits.ts'
import { refused } from '../src/definition/refused.ts'
import { schemaFormats, schemaWords } from '../src/definition/schema-words.ts'
import { dslVersions } from '../src/definition/subset.ts'
import { unsupported } from './refused-examples.ts'
import { supported } from './subset-examples.ts'

/** The scenarios that the DSL's project publishes for whoever runs it; refused ones by the name under which they are. */
export const scenarios: Readonly<
  Record<string, readonly (readonly [string, keyof typeof refused] | readonly [string])[]>
> = {
  branch: [['Fork Task With Competing Concurrent Sub Tasks']],
  call: [
    ['Call HTTP With Content Output'],
    ['Call HTTP With Response Output'],
    ['Call HTTP Using Basic Authentication'],
    ['Call OpenAPI With Content Output', 'call openapi'],
    ['Call OpenAPI With Response Output', 'call openapi'],
  ],
  'data-flow': [['Input Filtering'], ['Output Filtering'], ['Use Non-object Output']],
  do: [['Task With Sequential Sub Tasks']],
  emit: [['Emit Task', 'emit']],
  flow: [['Implicit Sequence Flow'], ['Explicit Sequence Flow']],
  for: [['For Task']],
  raise: [['Raise task with inline error']],
  set: [['Set Task']],
  switch: [
    ['Switch task with matching case'],
    ['Switch task with implicit default case'],
    ['Switch task with explicit default case'],
  ],
  try: [['Try Handle Caught Error'], ['Try Raise Uncaught Error']],
}

const yaml = (text: string): string => `\`\`\`yaml\n${text.trimEnd()}\n\`\`\`\n`
const number = (value: number): string => value.toLocaleString('en')

const run = supported.map(
  ({ name, about, example }) => `### ${name}\n\n${about}\n\n${yaml(example)}`,
)

const notRun = unsupported.map(
  ({ name, example, refused: by }) =>
    `### ${name}\n\nRefused as "${by}": ${refused[by!]}.\n\n${yaml(example)}`,
)

const published = Object.entries(scenarios).flatMap(([feature, list]) =>
  list.map(
    ([scenario, by]) =>
      `| ${feature} | ${scenario} | ${by === undefined ? 'run' : `refused: ${by}`} |`,
  ),
)

const limits: readonly (readonly [string, string])[] = [
  ['size of the text', `${DEFINITION_LIMITS.bytes / 1024} KiB`],
  ['mappings and lists inside of each other', number(DEFINITION_LIMITS.depth)],
  ['values', number(DEFINITION_LIMITS.values)],
  ['tasks', number(DEFINITION_LIMITS.tasks)],
  ['length of a task’s name', `${DEFINITION_LIMITS.taskNameLength} characters`],
  ['length of an expression', `${DEFINITION_LIMITS.expressionLength / 1024} KiB`],
  ['a wait or a timeout', '366 days'],
  ['complaints that are told at once', number(DEFINITION_LIMITS.complaints)],
]

/** docs/reference/workflow-subset.md, made of the tables that the tests go through. */
export const subsetPage = (): string => `# The workflow language: what is run

Made by \`npm run reference\` of the tables that \`apps/workflow/test/parse.test.ts\` goes through; not edited by hand.

A workflow is written in the Serverless Workflow DSL 1.0, as YAML or JSON. This server runs the part of it that is listed here;
everything else is refused when a definition is imported, by its name and with its line and column, so that nothing is left out
in silence. What is taken is also held against the DSL's own schema, as its project publishes it.

- \`document.dsl\` is one of ${dslVersions.map((version) => `\`${version}\``).join(', ')}.
- Expressions are jq in strict mode: \`\${ … }\` around a whole value. Where only an expression can stand (\`if\`, \`when\`, \`while\`,
  \`in\`, \`from\`, \`as\`) the wrapping may be left away.
- YAML's anchors, aliases and tags are not taken; nor is a key twice, or a second document.
- No secret stands in a definition: passwords and tokens come from an input with \`format: password\` (the family's
  \`SecureString\`), which is kept sealed. Such an input has no default and is a property of the input itself.
- \`then\` leads to tasks of the same list; their names are unique there.

## What is run

${run.join('\n')}
## What is refused

${notRun.join('\n')}
## JSON Schema

In \`input.schema\`, \`output.schema\`, \`export.schema\` and the form of an interaction, written out under \`document\`. Known words:
${Object.keys(schemaWords)
  .map((word) => `\`${word}\``)
  .join(
    ', ',
  )}. References lead to places in the same schema. Formats: ${schemaFormats.map((format) => `\`${format}\``).join(', ')}.
Any other word is refused, because a rule that is not kept would be none. The workflow's input is an object; its properties are
the fields of the form and the parameters of the API:

| Schema | Parameter type | Value |
|---|---|---|
| \`string\` | string | \`{"string":{"value":"…"}}\` |
| \`string\`, \`format: password\` | SecureString | \`{"secure-string":{"value":"…"}}\`; never told again |
| \`string\`, \`format: date-time\` | Date | \`{"date":{"value":"2026-01-31T12:00:00Z"}}\` |
| \`number\`, \`integer\` | number | \`{"number":{"value":1}}\` |
| \`boolean\` | boolean | \`{"boolean":{"value":true}}\` |
| \`array\` | Array/… | \`{"array":{"elements":[…]}}\` |
| \`object\` | Properties | \`{"properties":{"property":[{"key":"…","value":…}]}}\` |
| \`object\` with \`properties\` | CompositeType(…) | \`{"composite":{"property":[{"id":"…","value":…}]}}\` |

## Limits

| What | At most |
|---|---|
${limits.map(([what, most]) => `| ${what} | ${most} |`).join('\n')}

## The archive

A zip of ${Object.keys(archiveEntries)
  .map((name) => `\`${name}\``)
  .join(
    ', ',
  )}: the text as it was given, the input's schema where there is one, and id, name, folder, version, tags and the
SHA-256 of the others. The same workflow gives the same bytes. Nothing else may be in it.

## The published scenarios

The DSL's project publishes scenarios for whoever runs it (its conformance test kit). These are they, and what becomes of each here.

| Feature | Scenario | Here |
|---|---|---|
${published.join('\n')}
`

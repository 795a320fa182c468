/** What the DSL has and we do not run, by the name under which it is refused, with the reason and the way round. */
export const refused = {
  emit: 'there is no event bus behind this server; call a function or an address instead',
  'run container': 'nothing foreign is executed on this server; run it in a VM',
  'run script': 'nothing foreign is executed on this server; use expressions, or run it in a VM',
  'run shell': 'nothing foreign is executed on this server; run it in a VM',
  'run return': 'it is about processes; the output of a workflow is the output',
  'call grpc': 'call an address with "call: http"',
  'call openapi': 'no document is fetched; call the address with "call: http"',
  'call asyncapi': 'there is no message broker behind this server; use "call: http"',
  'a function of a catalog': 'nothing is fetched; write it into use.functions',
  'listen until': 'the first event that fits ends it; put it into a loop',
  'listen foreach': 'put a "for" task behind it, which sees the list of events',
  correlate: 'events are sent to one run, so there is nothing to correlate; use "with"',
  schedule: 'a schedule runs in somebody’s name; make it on the server: skerry workflow schedule',
  'use secrets': 'no secret is kept in or with a definition; take an input with format: password',
  'use catalogs': 'nothing is fetched; write functions into use.functions',
  'use extensions': 'what runs is what stands in the tasks; write the steps out',
  'authentication digest': 'use basic or bearer',
  'authentication oauth2': 'use bearer with a token from an input or an earlier call',
  'authentication oidc': 'use bearer with a token from an input or an earlier call',
  'a password in the definition':
    'the definition is exported; take it from an input with format: password, by ${ … }',
  'schema resource': 'nothing is fetched; write the schema out under "document"',
  evaluate: 'expressions are jq in strict mode, always',
} as const
export type Refused = keyof typeof refused

export const refusal = (name: Refused): string => `"${name}" is not run here: ${refused[name]}`

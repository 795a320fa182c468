/** DSL features that are not supported, by the name used in messages, with the reason and the alternative. */
export const refused = {
  emit: 'this server has no event bus; call a function or a URL instead',
  'run container': 'this server does not execute foreign code; run it in a VM',
  'run script': 'this server does not execute foreign code; use expressions, or run it in a VM',
  'run shell': 'this server does not execute foreign code; run it in a VM',
  'run return': 'it applies to processes only; a workflow always returns its output',
  'call grpc': 'use "call: http"',
  'call openapi': 'no documents are fetched; use "call: http"',
  'call asyncapi': 'this server has no message broker; use "call: http"',
  'a function of a catalog': 'nothing is fetched; define it in use.functions',
  'listen until': 'it ends with the first matching event; use a loop',
  'listen foreach': 'use a "for" task after it; its input is the list of events',
  correlate: 'events are sent to one run, so no correlation is needed; use "with"',
  schedule:
    'a schedule acts on behalf of a user; create it on the server: skerry workflow schedule',
  'use secrets': 'a definition must not contain secrets; use an input with format: password',
  'use catalogs': 'nothing is fetched; define functions in use.functions',
  'use extensions': 'a run executes only the listed tasks; write the steps out',
  'authentication digest': 'use basic or bearer',
  'authentication oauth2': 'use bearer with a token from an input or an earlier call',
  'authentication oidc': 'use bearer with a token from an input or an earlier call',
  'a password in the definition':
    'definitions are exported; use an expression ${ … } that reads an input with format: password',
  'schema resource': 'nothing is fetched; write the schema inline under "document"',
  evaluate: 'expressions are always jq in strict mode',
} as const
export type UnsupportedFeature = keyof typeof refused

export const refusal = (name: UnsupportedFeature): string =>
  `"${name}" is not supported: ${refused[name]}`

import type { Command, Options } from './command.ts'

/** All commands, one line each. */
export function overview(commands: readonly Command[]): string {
  const names = commands.map(({ name, usage }) => `${name} ${usage}`.trim())
  const wide = Math.max(...names.map(({ length }) => length))
  return [
    'usage: skerry COMMAND [--json] [--url URL]',
    '',
    ...commands.map(({ summary }, at) => `  ${(names[at] ?? '').padEnd(wide)}  ${summary}`),
    '',
    'skerry COMMAND --help says more. SKERRY_URL is the address of vmd when --url is left out,',
    'SKERRY_TOKEN the word that a vmd with --token-file wants.',
    'exit codes: 0 done, 1 refused by vmd, 2 wrong usage, 3 vmd not reachable, 4 timed out',
  ].join('\n')
}

export function helpOf({ name, usage, summary, options }: Command): string {
  const all: Options = { ...options }
  const rows = Object.entries(all).map(([option, { type, value, doc }]) => ({
    left: `  --${option}${type === 'string' ? ` ${value ?? 'TEXT'}` : ''}`,
    doc,
  }))
  const wide = Math.max(0, ...rows.map(({ left }) => left.length))
  const line = `usage: skerry ${name} ${usage}`.trim()
  return [
    rows.length === 0 ? line : `${line} [options]`,
    '',
    summary,
    ...(rows.length === 0
      ? []
      : ['', ...rows.map(({ left, doc }) => `${left.padEnd(wide)}  ${doc}`)]),
  ].join('\n')
}

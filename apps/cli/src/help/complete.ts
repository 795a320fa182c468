import { isGroup, nextWords, places } from '@skerry/command-line'

import type { Command, CliContext } from '../command.ts'
import { LOCAL } from '../profiles/profiles.ts'
import { optionsOf } from './global-options.ts'

type Completing = Pick<CliContext, 'at' | 'profiles'>

/** Completions of the last of these words, which do not include `skerry` itself. The shell completes file names. */
export async function complete(
  context: Completing,
  commands: readonly Command[],
  words: readonly string[],
): Promise<readonly string[]> {
  const begun = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const fitting = (all: readonly string[]) =>
    [...new Set(all)].filter((each) => each.startsWith(begun)).sort()

  const group = before.join(' ')
  const following = nextWords(commands, group)
  if (isGroup(commands, group)) return fitting(following)
  const found = longestNamed(commands, group)
  if (found === undefined) return []
  if (begun.startsWith('-')) {
    return fitting(Object.keys(optionsOf(found)).map((name) => `--${name}`))
  }
  const values = await valuesAt(context, found, before.slice(found.name.split(' ').length))
  // `skerry address` takes a VM, or one of the words of its group.
  return fitting([...following, ...values])
}

/** The command with the longest name that the line begins with. */
const longestNamed = (commands: readonly Command[], line: string): Command | undefined =>
  commands
    .filter(({ name }) => `${line} `.startsWith(`${name} `))
    .toSorted((one, other) => other.name.length - one.name.length)[0]

async function valuesAt(
  context: Completing,
  command: Command,
  given: readonly string[],
): Promise<readonly string[]> {
  // Names come from the API of the profile, which is not the cloud that an operator administers.
  if (command.program !== undefined) return []
  const all = optionsOf(command)
  const takesValue = (word: string | undefined) =>
    word?.startsWith('--') === true && all[word.slice(2)]?.type === 'string'
  const last = given.at(-1)
  const on = given[given.indexOf('--on') + 1]
  const place = given.includes('--on') && on !== undefined && last !== '--on' ? on : undefined
  if (last !== undefined && takesValue(last))
    return named(context, place, all[last.slice(2)]?.value)
  const words = given.filter((word, at) => !word.startsWith('-') && !takesValue(given[at - 1]))
  const wanted = places(command.usage)
  const next = wanted[words.length] ?? wanted.findLast(({ rest }) => rest)
  return named(context, place, next?.name)
}

/** Arguments with fixed values, which need no server. */
const fixed: Readonly<Record<string, readonly string[]>> = {
  SHELL: ['bash', 'zsh'],
  KIND: ['forward', 'one-to-one', 'snat'],
  PROTOCOL: ['tcp', 'udp'],
}

/** An unreachable server yields no completions and no message, so that the line being typed is not disturbed. */
async function named(
  { at, profiles }: Completing,
  on: string | undefined,
  what = '',
): Promise<readonly string[]> {
  try {
    if (what === 'PROFILE') return [LOCAL, ...Object.keys((await profiles.read()).clouds)]
    return fixed[what] ?? (await (await at(on)).verbs.names(what))
  } catch {
    return []
  }
}

/**
 * Scripts that call `skerry complete`, so that they stay valid after an upgrade; without a result the shell offers files. The
 * one for zsh may be sourced, or installed as _skerry in a directory of $fpath: then zsh runs the whole file at the first Tab,
 * and it must complete that one too.
 */
export const completionScripts = {
  bash: `_skerry() {
  local IFS=$'\\n'
  COMPREPLY=($(skerry complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _skerry skerry`,
  zsh: `#compdef skerry
_skerry() {
  local -a found
  found=(\${(f)"$(skerry complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
if [[ \${funcstack[1]} == _skerry ]]; then _skerry "$@"; else compdef _skerry skerry; fi`,
} as const

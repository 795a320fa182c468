import { Fault } from '@skerry/fault'

import { printable } from './table.ts'

/** The most words that a command name has: 'admin host list'. */
const LONGEST = 3

type Named = Readonly<{ name: string }>

/** The command with the longest name that the line begins with, and the rest of the line; an unknown name is a Fault. */
export function findCommand<Each extends Named>(
  commands: readonly Each[],
  argv: readonly string[],
): readonly [Each, readonly string[]] {
  for (let length = LONGEST; length > 0; length -= 1) {
    const name = argv.slice(0, length).join(' ')
    const found = commands.find((each) => each.name === name)
    if (found) return [found, argv.slice(length)]
  }
  throw unknown(commands, argv)
}

/** The commands of a group: those whose names begin with these words. */
export const commandsIn = <Each extends Named>(
  commands: readonly Each[],
  group: string,
): readonly Each[] =>
  group === '' ? commands : commands.filter(({ name }) => name.startsWith(`${group} `))

/** Whether these words name only a group: `share`, but not `address`, which is a command too. */
export const isGroup = (commands: readonly Named[], words: string): boolean =>
  commandsIn(commands, words).length > 0 && !commands.some(({ name }) => name === words)

/** The words that may follow the name of a group; '' is the group of all commands. */
export const nextWords = (commands: readonly Named[], group: string): readonly string[] => {
  const at = group === '' ? 0 : group.split(' ').length
  return [...new Set(commandsIn(commands, group).map(({ name }) => name.split(' ')[at] ?? ''))]
}

function unknown(commands: readonly Named[], argv: readonly string[]): Fault {
  let group = ''
  let rest = [...argv]
  for (let [word = ''] = rest; nextWords(commands, group).includes(word); [word = ''] = rest) {
    group = `${group} ${word}`.trim()
    rest = rest.slice(1)
  }
  const [word = ''] = rest
  const near = nearest(word, nextWords(commands, group))
  const all = group === '' ? 'skerry help' : `skerry ${group} --help`
  return new Fault('invalid', `there is no command ${printable(`${group} ${word}`.trim())}`, {
    hint:
      near === undefined
        ? `${all} lists all commands`
        : `did you mean skerry ${`${group} ${near}`.trim()}?`,
  })
}

/** The closest of `words`, at most two edits away. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  return words
    .map((each) => ({ each, far: editDistance(word, each) }))
    .filter(({ each, far }) => far <= Math.min(2, each.length - 1))
    .sort((a, b) => a.far - b.far)[0]?.each
}

/** Levenshtein distance. */
export function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, letter] of Array.from(one).entries()) {
    const next = [at + 1]
    for (const [to, wanted] of Array.from(other).entries()) {
      const changed = (row[to] ?? 0) + (letter === wanted ? 0 : 1)
      next.push(Math.min(changed, (row[to + 1] ?? 0) + 1, (next[to] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

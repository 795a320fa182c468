// What an administrator does on the machine of a cell: the same commands, run as programs.
import type { Outcome } from '../child.ts'
import { askProgram } from '../child.ts'
import { Failure } from '../failure.ts'
import { cloudProgram } from './site.ts'

/** Runs `skerry cloud …` and answers what it printed, which is JSON. */
export type Administer = (words: readonly string[], input?: string) => Promise<unknown>

export const administering =
  (node: string, config: string): Administer =>
  async (words, input = '') => {
    const command = [node, cloudProgram, ...words, '--config', config, '--json']
    const out = await must(askProgram(command, { input }), `skerry cloud ${words[0]}`)
    return out.trim() === '' ? undefined : JSON.parse(out)
  }

/** What a program said; a Failure with its own words and its own next step where it did not do it. */
export async function must(asked: Promise<Outcome>, name: string): Promise<string> {
  const { code, out, err } = await asked
  if (code === 0) return out
  const lines = err
    .trim()
    .split('\n')
    .filter((line) => line !== '')
  const next = lines.find((line) => line.startsWith('next: '))?.slice('next: '.length)
  const said = lines.filter((line) => !line.startsWith('next: ')).slice(-6)
  throw new Failure(
    'refused',
    `${name} ended with ${code}: ${said.join('\n') || 'it said nothing'}`,
    {
      hint: next ?? 'mend what it tells of, then skerry up again: it goes on where it was',
    },
  )
}

// What an administrator does on the machine of a cell: the product's own commands, in the network where its servers are.
import { CLOUD_PROGRAM } from './cell.ts'
import { inNetworkNamed } from './netns.ts'
import { run } from './run.ts'

export interface Administer {
  /** Runs `skerry cloud …` for a cell and answers what it printed, which is JSON. */
  (words: readonly string[], input?: string): Promise<unknown>
}

export function administering(netns: string, config: string): Administer {
  return async (words, input = '') => {
    const command = [process.execPath, CLOUD_PROGRAM, ...words, '--config', config, '--json']
    const said = await run(inNetworkNamed(netns, command), { input })
    return said.trim() === '' ? undefined : JSON.parse(said)
  }
}

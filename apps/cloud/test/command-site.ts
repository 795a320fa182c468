import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { parseAdmin, whyNotOf, adminCommands } from '@skerry/command-line'
import { freshDatabase, type Postgres } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'

import { commands } from '../src/admin/commands.ts'
import { runParsed } from '../src/command-line/command.ts'
import { actingAs } from '../src/database/acting-as.ts'
import type { CloudTables } from '../src/database/tables.ts'

/** What an operator has on the machine of a cell: an empty database, and the commands. */
export async function openCommands(postgres: Postgres | undefined) {
  assert(postgres)
  await using stack = new AsyncDisposableStack()
  const { url } = stack.use(await freshDatabase(postgres))
  const { path: dir } = stack.use(await mkdtempDisposable(join(tmpdir(), 'skerry-site-')))
  const db = openDatabase<CloudTables>({
    url: actingAs(url, 'skerry_system'),
    applicationName: 'test',
  })
  stack.defer(() => db.destroy())
  const config = join(dir, 'cloud.json')
  let now = new Date()
  const issuing = {
    clock: { now: () => now },
    serial: () => `01${randomBytes(15).toString('hex')}`,
  }
  const type = async (line: readonly string[], input = ''): Promise<string> => {
    const said: string[] = []
    const parsed = parseAdmin(['admin', ...line, '--config', config])
    await runParsed(
      {
        issuing,
        print: (text: string) => said.push(text),
        readInput: async () => input,
        secret: () => randomBytes(32).toString('base64url'),
        uuid: () => '00000000-0000-4000-8000-000000000001',
        log: () => undefined,
        salt: () => randomBytes(16),
      },
      commands,
      parsed,
    )
    const printed = said.join('\n')
    if (parsed.json) requireDeclared(parsed.name, printed)
    return printed
  }
  const init = () =>
    type([
      'init',
      '--base',
      'https://127.0.0.1:8443',
      '--database',
      url,
      '--json',
      '--machines',
      '127.0.0.1:8444',
      '--images',
      join(dir, 'images'),
    ])
  const moved = stack.move()
  return {
    db,
    url,
    dir,
    config,
    type,
    init,
    issuing,
    pass: (ms: number) => {
      now = new Date(now.getTime() + ms)
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}

/** Checks all JSON output of a test against its schema. */
function requireDeclared(name: string, printed: string): void {
  const declared = adminCommands.find((each) => each.name === name)
  assert(declared)
  assert.equal(whyNotOf(declared.output, JSON.parse(printed), name), undefined, printed)
}

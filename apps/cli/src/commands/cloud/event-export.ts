import { createReadStream } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

import { eventsUntilNow } from '../../cloud/events.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command, type CliContext } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { holdAlone } from '../../terminal/only-one.ts'
import { showProgress } from '../../terminal/progress.ts'
import { chain, exportedEvents, lineOf, NO_HASH, type ChainedEvent } from './event-chain.ts'

/** Events that are written at once. */
const AT_ONCE = 500

export const exportEvents = command({
  name: 'event export',
  usage: 'FILE',
  summary: 'append new events of a cloud to a file, as a chain of hashes',
  examples: ['skerry event export audit.jsonl'],
  next: 'skerry event verify FILE checks the file; store the last hash in another place',
  asks: 'cloud',
  async run(context, { words: [path = ''], json }) {
    await using file = await openExport(path)
    const { dev, ino } = await file.stat()
    await using _ = await holdAlone(
      `export:${dev}-${ino}`,
      `another skerry event export writes to ${path}`,
    )
    const before = await readEnd(path)
    await file.truncate(before.end)
    const { added, last } = await showProgress(context, `exporting to ${path}`, (report) =>
      append(context, file, before, (count) => report(undefined, `${count} events`)),
    )
    await file.sync()
    const total = before.line + added
    if (json) context.print(JSON.stringify({ added, events: total, last }))
    else context.print(`${added} events added to ${path}, ${total} in all; last hash ${last}`)
  },
})

async function openExport(path: string): Promise<FileHandle> {
  try {
    // Events hold names and addresses of users.
    return await open(path, 'a', 0o600)
  } catch (cause) {
    throw new Failure('refused', `${path} cannot be written: ${(cause as Error).message}`, {
      hint: 'name a file in a directory that you may write to',
      cause,
    })
  }
}

interface End {
  readonly line: number
  readonly end: number
  readonly hash: string
  /** The id of the last event. */
  readonly id: string | undefined
}

async function readEnd(path: string): Promise<End> {
  let last: (ChainedEvent & Pick<End, 'line' | 'end'>) | undefined
  for await (const each of exportedEvents(path, createReadStream(path))) last = each
  if (!last) return { line: 0, end: 0, hash: NO_HASH, id: undefined }
  const { id } = JSON.parse(last.event) as { readonly id?: string }
  return { ...last, id }
}

async function append(
  context: CliContext,
  file: FileHandle,
  before: End,
  report: (count: number) => void,
): Promise<{ readonly added: number; readonly last: string }> {
  let [added, last] = [0, before.hash]
  let lines: string[] = []
  const write = async (): Promise<void> => {
    await file.appendFile(lines.join(''))
    added += lines.length
    lines = []
    report(added)
  }
  for await (const event of eventsUntilNow(sessionIn(context), before.id)) {
    const chained = chain(last, JSON.stringify(event))
    last = chained.hash
    lines.push(lineOf(chained))
    if (lines.length === AT_ONCE) await write()
  }
  await write()
  return { added, last }
}

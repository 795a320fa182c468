import { createReadStream } from 'node:fs'

import { eventsUntilNow } from '../../cloud/events.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command, type CliContext } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { showProgress } from '../../terminal/progress.ts'
import { exportedEvents, NO_HASH, type ExportedEvent } from './event-chain.ts'

interface Verified {
  readonly events: number
  readonly last: string
}

interface Compared extends Verified {
  /** Events of the file that the cloud has deleted since, because of their age. */
  readonly deleted: number
  /** Events of the cloud that are newer than the file. */
  readonly newer: number
}

export const verifyEvents = command({
  name: 'event verify',
  usage: 'FILE',
  summary: 'check that no event of an export was changed, removed or added',
  examples: ['skerry event verify audit.jsonl', 'skerry event verify audit.jsonl --cloud'],
  next: 'skerry event export FILE appends what is new',
  asks: 'cloud',
  options: {
    last: {
      type: 'string',
      value: 'HASH',
      doc: 'a hash that an export has printed: it must occur',
    },
    cloud: { type: 'boolean', doc: 'compare with the events that the cloud still has' },
  },
  async run(context, { words: [path = ''], options: { last, cloud }, json }) {
    const verified = await showProgress(context, `verifying ${path}`, () =>
      cloud === true ? compare(context, path, last) : verify(path, last),
    )
    context.print(json ? JSON.stringify(verified) : inWords(path, verified))
  },
})

async function verify(path: string, expected: string | undefined): Promise<Verified> {
  let verified: Verified = { events: 0, last: NO_HASH }
  for await (const each of readExport(path, expected)) {
    verified = { events: each.line, last: each.hash }
  }
  return verified
}

/**
 * Throws at the first event that the cloud does not have. The cloud deletes events by their age, so those that are older than its
 * oldest are only counted.
 */
async function compare(
  context: CliContext,
  path: string,
  expected: string | undefined,
): Promise<Compared> {
  const kept = eventsUntilNow(sessionIn(context), undefined)[Symbol.asyncIterator]()
  const next = async (): Promise<string | undefined> => {
    const { done, value } = await kept.next()
    return done === true ? undefined : JSON.stringify(value)
  }
  let theirs = await next()
  const oldest = theirs === undefined ? undefined : timeOf(theirs)
  let [events, last, deleted, newer] = [0, NO_HASH, 0, 0]
  for await (const { line, hash, event } of readExport(path, expected)) {
    events = line
    last = hash
    if (event === theirs) theirs = await next()
    else if (oldest === undefined || timeOf(event) < oldest) deleted += 1
    else throw differs(path, line)
  }
  for (; theirs !== undefined; theirs = await next()) newer += 1
  return { events, last, deleted, newer }
}

/** In milliseconds. */
const timeOf = (event: string): number =>
  Date.parse((JSON.parse(event) as { readonly at: string }).at)

async function* readExport(
  path: string,
  expected: string | undefined,
): AsyncGenerator<ExportedEvent, void> {
  let isFound = expected === undefined || expected === NO_HASH
  try {
    for await (const each of exportedEvents(path, createReadStream(path))) {
      isFound ||= each.hash === expected
      yield each
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure('refused', `${path} cannot be read: ${(cause as Error).message}`, { cause })
  }
  if (isFound) return
  throw new Failure('refused', `${path} has no line with the hash ${expected}`, {
    hint: 'the file was written again or shortened since that hash was printed; compare with a copy',
  })
}

const differs = (path: string, line: number): Failure =>
  new Failure('refused', `${path}: line ${line} is not the next event of the cloud`, {
    hint: 'a line was changed, removed or added there, or the file is of another cloud or organisation',
  })

function inWords(path: string, verified: Verified | Compared): string {
  const whole = `${path}: ${verified.events} events, no line changed; last hash ${verified.last}`
  if (!('newer' in verified)) return whole
  const { deleted, newer } = verified
  return `${whole}\nthe cloud has the same events; ${deleted} older ones are deleted there, ${newer} newer ones are not exported yet`
}

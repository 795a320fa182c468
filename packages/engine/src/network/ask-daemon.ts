import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

/**
 * A daemon answers between two turns of its work. One that is gone refuses at once, so only one that hangs is noticed this late. A
 * cell waits 28 s for a host, which asks two of them.
 */
const ANSWER_MS = 10_000
const ANSWER_BYTES_MAX = 64 * 1024

/**
 * Asks a daemon of Open vSwitch or OVN at its control socket, as ovs-appctl does: one question and one answer in JSON. undefined
 * if it does not run or does not answer.
 */
export async function askDaemon(
  directory: string,
  daemon: string,
  method: string,
): Promise<string | undefined> {
  const names = await readdir(directory).catch(() => [])
  // A daemon that was killed leaves its socket, and the next one has another process id in the name of its own.
  for (const name of names.filter((each) => isSocketOf(daemon, each))) {
    const answer = await ask(join(directory, name), method).catch(() => undefined)
    if (answer !== undefined) return answer
  }
  return undefined
}

const isSocketOf = (daemon: string, name: string): boolean =>
  name.startsWith(`${daemon}.`) && /^\d+\.ctl$/.test(name.slice(daemon.length + 1))

async function ask(path: string, method: string): Promise<string | undefined> {
  const socket = connect({ path })
  socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error('no answer')))
  try {
    socket.write(JSON.stringify({ id: 0, method, params: [] }))
    let text = ''
    for await (const chunk of socket) {
      text += String(chunk)
      const { result, error } = parsed(text)
      if (typeof result === 'string') return result.trim()
      if (typeof error === 'string' || text.length > ANSWER_BYTES_MAX) return undefined
    }
    return undefined
  } finally {
    socket.destroy()
  }
}

/** Empty while the answer is incomplete. */
function parsed(text: string): { readonly result?: unknown; readonly error?: unknown } {
  try {
    return JSON.parse(text) as object
  } catch {
    return {}
  }
}

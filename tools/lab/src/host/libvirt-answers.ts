// Checks whether a libvirtd is running and serves calls.
import { connect } from 'node:net'

const ANSWER_TIMEOUT_MS = 2_000

// The smallest call of the protocol, which needs no login: list the authentication methods.
const AUTH_LIST = 66
const question = Buffer.alloc(28)
for (const [place, word] of [28, 0x20008086, 1, AUTH_LIST, 0, 1, 0].entries()) {
  question.writeUInt32BE(word, place * 4)
}

/** libvirtd opens its socket early and serves clients once all its drivers are ready; only a response proves that it is. */
export async function libvirtAnswers(socket: string): Promise<boolean> {
  const link = connect(socket)
  link.setTimeout(ANSWER_TIMEOUT_MS)
  return new Promise<boolean>((resolve) => {
    const end = (answered: boolean) => {
      link.destroy()
      resolve(answered)
    }
    link.once('connect', () => link.write(question))
    link.once('data', () => end(true))
    link.once('timeout', () => end(false))
    link.once('error', () => end(false))
    link.once('close', () => end(false))
  })
}

// A user of a host who is in the group skerry, and the requests of this user to vmd.
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import type { LabHost } from '@skerry/lab'

export interface Said {
  readonly status: number
  readonly body: string
}

export interface Member extends AsyncDisposable {
  ask(method: string, path: string, body?: string): Promise<Said>
}

export interface User {
  readonly name: string
  readonly uid: number
  readonly home: string
}

/** Adds users to the host's passwd and group files, as members of the group. The files are kept in the directory. */
export async function addMembers(
  host: LabHost,
  directory: string,
  users: readonly User[],
): Promise<void> {
  const names = users.map(({ name }) => name).join()
  const lines = users.map(({ name, uid, home }) => `${name}:x:${uid}:${uid}::${home}:/bin/sh\n`)
  const added = { group: `skerry:x:54320:${names}\n`, passwd: lines.join('') }
  for (const [file, text] of Object.entries(added)) {
    const own = join(directory, file)
    await writeFile(own, (await readFile(`/etc/${file}`, 'utf8')) + text)
    await host.run(['mount', '--bind', own, `/etc/${file}`])
  }
}

/** Sends requests one after the other, on one connection, as this user. */
export async function startMember(host: LabHost, uid: number): Promise<Member> {
  const file = `${import.meta.dirname}/member-process.ts`
  const child = host.spawn([process.execPath, file, String(uid)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('the member has no pipes')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  return {
    async ask(method, path, body) {
      stdin.write(`${JSON.stringify({ method, path, body })}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error('the member is gone')
      return JSON.parse(value) as Said
    },
    async [Symbol.asyncDispose]() {
      stdin.end()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    },
  }
}

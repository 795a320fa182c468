// Both doors of one cell, and a workflow server that comes in at the machines'.
import { MachineLink, readText } from '@skerry/host-api'
import type { OrgId, UserId } from '@skerry/vm'

import type { Role } from '../src/identity/roles.ts'
import { identityOf, openTestDoor, type TestDoor } from './machine-door.ts'
import { openDoor, XML, type Answered, type Asked, type Door } from './tenants-door.ts'

export interface Said {
  readonly status: number
  readonly body: Record<string, string>
}

export interface WorkflowDoor extends AsyncDisposable {
  readonly door: Door
  readonly machines: TestDoor
  /** What the machines' door says to a workflow server. */
  tell(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Said>
  /** The tenants' API, asked at the machines' door; as a run where a grant is named. */
  askAs(grant: string | undefined, method: string, path: string, asked?: Asked): Promise<Answered>
  /** The same as a machine of another role. */
  askWith(link: MachineLink, grant: string, method: string, path: string): Promise<Answered>
  linkOf(role: 'cell' | 'console' | 'host', id: string): Promise<MachineLink>
  /** A user whose password was just shown to the workflow server. */
  addUser(org: OrgId, role: Role): Promise<{ readonly id: UserId; readonly name: string }>
  grant(org: OrgId, account: UserId, more?: object): Promise<string>
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export async function openWorkflowDoor(): Promise<WorkflowDoor> {
  await using stack = new AsyncDisposableStack()
  const door = stack.use(await openDoor())
  const { db } = door.cloud
  const machines = stack.use(await openTestDoor(db, { forWorkflows: door.forWorkflows }))
  const target = { address: '127.0.0.1', port: machines.port }
  const links = stack.use(new DisposableStack())
  const linkOf = async (role: 'cell' | 'console' | 'host' | 'workflow', id: string) =>
    links.use(new MachineLink(target, await identityOf(machines, role, id), { role: 'cell' }))
  const own = await linkOf('workflow', 'flow-1')
  const tell: WorkflowDoor['tell'] = async (method, path, body) => {
    const answer = await own.ask({ method, path, body })
    const text = await readText(answer)
    return { status: answer.statusCode ?? 0, body: JSON.parse(text) as Said['body'] }
  }
  const ask = async (
    link: MachineLink,
    grant: string | undefined,
    method: string,
    path: string,
    { body, headers }: Asked = {},
  ): Promise<Answered> => {
    const answer = await link.ask({
      ...{ method: method as Method, path },
      ...(body !== undefined && { text: body }),
      headers: { accept: XML, ...(grant !== undefined && { 'skerry-grant': grant }), ...headers },
    })
    const { statusCode: status = 0, headers: got } = answer
    if (String(got['content-type']).startsWith('text/event-stream')) {
      answer.destroy()
      return { status, headers: got, text: '' }
    }
    return { status, headers: got, text: await readText(answer, 10_000_000) }
  }
  let users = 0
  const moved = stack.move()
  return {
    ...{ door, machines, tell, linkOf },
    askAs: (grant, method, path, asked) => ask(own, grant, method, path, asked),
    askWith: (link, grant, method, path) => ask(link, grant, method, path),
    async addUser(org, role) {
      const name = `user-${(users += 1)}`
      const { id } = await db
        .insertInto('account')
        .values({ org, name, role, password: 'none' })
        .returning('id')
        .executeTakeFirstOrThrow()
      await db
        .insertInto('workflow_login')
        .values({ server: 'flow-1', account_org: org, account: id })
        .execute()
      return { id, name }
    },
    async grant(org, account, more = {}) {
      const given = await tell('POST', '/machine/v1/grants', { org, account, kind: 'run', ...more })
      if (given.status !== 200) throw new Error(JSON.stringify(given))
      return given.body['id'] ?? ''
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}

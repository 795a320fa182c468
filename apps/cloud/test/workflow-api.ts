// The tenant API and the machine API of one cell, and a workflow server that uses the latter.
import { MachineLink, readText } from '@skerry/host-api'
import type { OrgId, UserId } from '@skerry/vm'

import type { Role } from '../src/domain/roles.ts'
import { identityOf, openTestMachineApi, type TestMachineApi } from './machine-api.ts'
import { openTenantsApi, XML, type Answered, type Asked, type TenantsApi } from './tenants-api.ts'

export interface Said {
  readonly status: number
  readonly body: Record<string, string>
}

export interface TestWorkflowApi extends AsyncDisposable {
  readonly api: TenantsApi
  readonly machines: TestMachineApi
  /** Calls the machine API as a workflow server. */
  tell(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<Said>
  /** Calls the tenant API through the machine API; as a run if a grant is given. */
  askAs(
    grant: string | undefined,
    method: string,
    path: string,
    requested?: Asked,
  ): Promise<Answered>
  /** The same as another machine. */
  askWith(
    link: MachineLink,
    grant: string,
    method: string,
    path: string,
    requested?: Asked,
  ): Promise<Answered>
  linkOf(role: 'cell' | 'console' | 'host' | 'workflow', id: string): Promise<MachineLink>
  /** Adds a user who has just authenticated at the workflow server. */
  addUser(org: OrgId, role: Role): Promise<{ readonly id: UserId; readonly name: string }>
  /** Authenticates the user at the workflow server again. */
  logIn(org: OrgId, account: UserId): Promise<void>
  grant(org: OrgId, account: UserId, more?: object): Promise<string>
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export async function openTestWorkflowApi(): Promise<TestWorkflowApi> {
  await using stack = new AsyncDisposableStack()
  const api = stack.use(await openTenantsApi())
  const { db } = api.cloud
  const machines = stack.use(await openTestMachineApi(db, { forWorkflows: api.forWorkflows }))
  const target = { address: '127.0.0.1', port: machines.port }
  const links = stack.use(new DisposableStack())
  const linkOf = async (role: 'cell' | 'console' | 'host' | 'workflow', id: string) =>
    links.use(new MachineLink(target, await identityOf(machines, role, id), { role: 'cell' }))
  const own = await linkOf('workflow', 'flow-1')
  const tell: TestWorkflowApi['tell'] = async (method, path, body) => {
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
      method: method as Method,
      path,
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
  const logIn = async (org: OrgId, account: UserId) => {
    const login = { server: 'flow-1', account_org: org, account }
    await db.insertInto('workflow_login').values(login).execute()
  }
  let users = 0
  const moved = stack.move()
  return {
    api,
    machines,
    tell,
    linkOf,
    logIn,
    askAs: (grant, method, path, requested) => ask(own, grant, method, path, requested),
    askWith: (link, grant, method, path, requested) => ask(link, grant, method, path, requested),
    async addUser(org, role) {
      const name = `user-${(users += 1)}`
      const { id } = await db
        .insertInto('account')
        .values({ org, name, role, password: 'none' })
        .returning('id')
        .executeTakeFirstOrThrow()
      await logIn(org, id)
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

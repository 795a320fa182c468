// What the proof does with each example: its variables before and after a change, what to import, and a change by another client.
import type { JsonApi } from './json-api.ts'
import type { Variables } from './workspace.ts'

type State = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface Example {
  readonly name: string
  readonly first: Variables
  readonly changed: Variables
  /** Address → id for an import into an empty state. */
  readonly ids: (state: State) => Readonly<Record<string, string>>
  /** Another client changes what the state has. */
  readonly drift: (api: JsonApi, state: State) => Promise<unknown>
  /** What is left of it, after it was destroyed. Good: nothing. */
  readonly left: (api: JsonApi, state: State) => Promise<readonly string[]>
}

const attribute = (state: State, address: string, name: string): string => {
  const value = state[address]?.[name]
  if (value === undefined) throw new Error(`${address} has no ${name}`)
  return value
}
const idOf = (state: State, address: string): string => attribute(state, address, 'id')

const template = 'small'

/** Names of what still answers. */
async function leftAt(api: JsonApi, ...paths: readonly string[]): Promise<readonly string[]> {
  const asked = await Promise.all(
    paths.map(async (path) => ({ path, status: (await api.ask('GET', path)).status })),
  )
  return asked.filter(({ status }) => status !== 404).map(({ path }) => path)
}

const vm: Example = {
  name: 'vm',
  first: { template, name: 'web', memory_mb: 128 },
  changed: { template, name: 'website', memory_mb: 256 },
  ids: (state) => ({
    'skerry_vm.web': `${idOf(state, 'skerry_vm.web')},${attribute(state, 'skerry_vm.web', 'template')}`,
  }),
  drift: (api, state) =>
    api.act('POST', `/api/vApp/${idOf(state, 'skerry_vm.web')}/power/action/powerOff`),
  left: (api, state) => leftAt(api, `/api/vApp/${idOf(state, 'skerry_vm.web')}`),
}

const vapp: Example = {
  name: 'vapp',
  first: { template, web_servers: ['web-1'] },
  changed: { template, web_servers: ['web-1', 'web-2'] },
  ids: (state) => {
    const vms = state['skerry_vapp.shop']?.['vms'] as unknown as Readonly<
      Record<string, { readonly template: string }>
    >
    return { 'skerry_vapp.shop': `${idOf(state, 'skerry_vapp.shop')},${vms['db']?.template}` }
  },
  async drift(api, state) {
    const address = `/api/vApp/${idOf(state, 'skerry_vapp.shop')}`
    const { children } = await api.get(address)
    const { vm: vms } = children as { readonly vm: readonly { name: string; href: string }[] }
    const gone = new URL(vms.find(({ name }) => name === 'web-2')?.href ?? '').pathname
    await api.act('POST', `${gone}/power/action/powerOff`)
    await api.act('DELETE', gone)
  },
  left: (api, state) => leftAt(api, `/api/vApp/${idOf(state, 'skerry_vapp.shop')}`),
}

const network: Example = {
  name: 'network',
  first: { template, address: '192.168.10.9' },
  changed: { template, address: '192.168.10.10', description: 'For the databases' },
  ids: (state) => ({
    'skerry_network.backend': idOf(state, 'skerry_network.backend'),
    'skerry_vm.database': `${idOf(state, 'skerry_vm.database')},${attribute(state, 'skerry_vm.database', 'template')}`,
  }),
  drift: (api, state) =>
    api.act('PUT', `/api/admin/network/${idOf(state, 'skerry_network.backend')}`, {
      description: 'By another client',
    }),
  left: (api, state) =>
    leftAt(
      api,
      `/api/network/${idOf(state, 'skerry_network.backend')}`,
      `/api/vApp/${idOf(state, 'skerry_vm.database')}`,
    ),
}

const edgeGateway: Example = {
  name: 'edge-gateway',
  first: { port: 443 },
  changed: { port: 8443 },
  ids: (state) => ({
    'skerry_edge_gateway.office': idOf(state, 'skerry_edge_gateway.office'),
    'skerry_network.public': idOf(state, 'skerry_network.public'),
    'skerry_edge_rules.office': idOf(state, 'skerry_edge_gateway.office'),
  }),
  drift: (api, state) =>
    api.act(
      'POST',
      `/api/admin/edgeGateway/${idOf(state, 'skerry_edge_gateway.office')}/action/configureServices`,
      { natService: { natRule: [] } },
    ),
  left: (api, state) =>
    leftAt(
      api,
      `/api/admin/edgeGateway/${idOf(state, 'skerry_edge_gateway.office')}`,
      `/api/network/${idOf(state, 'skerry_network.public')}`,
    ),
}

const password = 'a long enough secret of rita'

/** The cloud keeps users: one that is disabled is gone. */
async function enabledUser(api: JsonApi, id: string): Promise<readonly string[]> {
  const { isEnabled, name } = await api.get(`/api/admin/user/${id}`)
  return isEnabled === false ? [] : [String(name)]
}

const user: Example = {
  name: 'user',
  first: { password, role: 'author' },
  changed: { password, role: 'user' },
  ids: (state) => ({ 'skerry_user.rita': idOf(state, 'skerry_user.rita') }),
  drift: (api, state) =>
    api.act('PUT', `/api/admin/user/${idOf(state, 'skerry_user.rita')}`, {
      role: { name: 'organisation administrator' },
    }),
  left: (api, state) => enabledUser(api, idOf(state, 'skerry_user.rita')),
}

const token: Example = {
  name: 'token',
  first: { password, days: 90 },
  changed: { password, days: 30 },
  ids: (state) => ({
    'skerry_user.script': idOf(state, 'skerry_user.script'),
    'skerry_token.script': `nightly@eng,${idOf(state, 'skerry_token.script')}`,
  }),
  drift: (api, state) =>
    api.act('DELETE', `/api/admin/token/${idOf(state, 'skerry_token.script')}`),
  left: async (api, state) => [
    ...(await leftAt(api, `/api/admin/token/${idOf(state, 'skerry_token.script')}`)),
    ...(await enabledUser(api, idOf(state, 'skerry_user.script'))),
  ],
}

export const examples: readonly Example[] = [vm, vapp, network, edgeGateway, user, token]

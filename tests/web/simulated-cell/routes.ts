// The routes of the simulated cell: one row each.
import * as administration from './administration.ts'
import { may, type SimulatedCaller } from './callers.ts'
import * as catalog from './catalog.ts'
import { edgeRows } from './edge-gateways.ts'
import * as fleet from './fleet.ts'
import {
  changedHardware,
  createdVms,
  factsOf,
  FREE_NUMBERS,
  ORG_VMS,
  setHostEnabled,
  statusOf,
  statuses,
  STATUSES,
} from './inventory.ts'
import { networkReferences, networkRows } from './networks.ts'
import { metrics, screenshot } from './pictures.ts'
import { runQuery } from './query-route.ts'
import { findVms } from './query.ts'
import { roleRows } from './roles.ts'
import { answer, first, noContent, row, type SimulatedRequest, type SimulatedRow } from './row.ts'
import { secondFactorRows } from './second-factors.ts'
import { securityGroupRows } from './security-groups.ts'
import { countBody, readBody, sendError } from './send.ts'
import { mayAt } from './shares.ts'
import { sharingRows } from './sharing.ts'
import { operations, snapshots, type Operation } from './tasks.ts'
import * as documents from './vm-documents.ts'
import { webhookRows } from './webhooks.ts'

/** Metadata and leases by the id of their object. */
const metadata = new Map<string, Map<string, string>>()
const leases = new Map<number, { run: number; keep: number }>()

/** Neither the role nor a share gives the right. */
const refuse = ({ caller, response }: SimulatedRequest, right = 'vm:read'): void =>
  sendError(response, 403, 'FORBIDDEN', `your role, ${caller.role}, lacks the right ${right}`)

const isDeleted = (n: number): boolean => statuses[n] === undefined || statuses[n] === 255

async function runOperation(request: SimulatedRequest, operation: Operation): Promise<void> {
  const n = first(request)
  const because = documents.whyNot(operation, n, request.caller)
  const body = await readBody(request.request)
  if (because !== undefined) {
    const isRight = because.startsWith('your role')
    const [status, code] = isRight ? ([403, 'FORBIDDEN'] as const) : ([409, 'CONFLICT'] as const)
    return sendError(request.response, status, code, because)
  }
  const task = request.queue.submit(operation, n, request.caller.user, () =>
    apply(operation, n, body),
  )
  answer(request, documents.taskDocument(task), 202)
}

/** One task for all VMs that match, if as many match as the caller saw. */
function actOnQuery(request: SimulatedRequest): void {
  const { queue, caller, response, url, groups } = request
  const [name = ''] = groups
  const operation = operations.find(
    ({ path, rel }) => path.endsWith(`/${name}`) || (name === 'delete' && rel === 'remove'),
  )
  if (!operation) return answer(request, undefined)
  if (!may(caller, operation.right)) {
    const because = `your role, ${caller.role}, lacks the right ${operation.right}`
    return sendError(response, 403, 'FORBIDDEN', because)
  }
  const filter = url.searchParams.get('filter') ?? ''
  const version = [...queue.tasks.values()].filter(({ ended }) => ended !== undefined).length
  const vms = [...findVms(filter, '', false, false, version)]
  const expect = Number(url.searchParams.get('expect'))
  if (vms.length !== expect) {
    const differs = `the filter matches ${vms.length} VMs, but expect is ${expect}; read the list again`
    return sendError(response, 409, 'CONFLICT', differs)
  }
  const whyNot = (n: number) => documents.whyNot(operation, n, caller)
  answer(
    request,
    documents.taskDocument(queue.submitBulk(operation, vms, caller.user, whyNot)),
    202,
  )
}

/** What a finished operation changes beside the power state. */
function apply({ name }: Operation, n: number, body: Record<string, unknown>): void {
  if (name === 'vappRemoveAllSnapshots') snapshots.delete(n)
  if (name === 'vappCreateSnapshot')
    snapshots.set(n, {
      name: typeof body['name'] === 'string' ? body['name'] : 'snapshot',
      created: Date.now(),
      hasMemory: body['memory'] === true,
    })
  if (name !== 'vappUpdateVm') return
  const { item = [] } = (body['virtualHardwareSection'] ?? {}) as {
    item?: { resourceType: number; virtualQuantity: number }[]
  }
  const { cpus, memory, disk } = factsOf(n)
  const amount = (type: number, usual: number): number =>
    item.find(({ resourceType }) => resourceType === type)?.virtualQuantity ?? usual
  changedHardware.set(n, {
    cpus: amount(3, cpus),
    memory: amount(4, memory),
    disk: amount(17, disk),
  })
}

interface ComposeBody {
  readonly name: string
  readonly sourcedItem?: readonly { readonly source: { readonly name: string } }[]
}

let createdVapps = 0

/** New VMs take the free numbers of the organisation. */
async function compose(request: SimulatedRequest): Promise<void> {
  const { name, sourcedItem } = (await readBody(request.request)) as unknown as ComposeBody
  const vappN = 100_000 + createdVapps++
  const items = sourcedItem ?? [{ source: { name } }]
  const creating = operations[0] as Operation
  const tasks = items.flatMap(({ source }) => {
    const n = ORG_VMS - FREE_NUMBERS + createdVms.size
    if (n >= ORG_VMS) return []
    createdVms.set(n, { name: source.name, vapp: name, vappN })
    statuses[n] = STATUSES.indexOf('POWERED_OFF')
    const operation = { ...creating, name: 'vdcComposeVapp' }
    return [request.queue.submit(operation, n, request.caller.user)]
  })
  const vapp = documents.vappDocument(vappN, request.caller, { run: 0, keep: 0 })
  answer(request, { ...vapp, tasks: { task: tasks.map(documents.taskDocument) } }, 201)
}

const vdcDocument = (n: number, caller: SimulatedCaller) => ({
  name: n === 1 ? 'main' : 'lab',
  href: documents.vdcHref(n),
  isEnabled: true,
  availableNetworks: { network: networkReferences(n === 1 ? 'main' : 'lab') },
  link: [
    ...(may(caller, 'vm:edit')
      ? ['composeVApp', 'cloneVApp'].map((action) => ({
          rel: 'add',
          type: documents.media(`${action}Params`),
          href: `${documents.vdcHref(n)}/action/${action}`,
        }))
      : []),
    ...(may(caller, 'network:edit')
      ? [
          {
            rel: 'add',
            type: documents.media('orgVdcNetwork'),
            href: `/api/admin${documents.vdcHref(n).slice(4)}/networks`,
          },
        ]
      : []),
  ],
})

function vappPower(request: SimulatedRequest): void {
  const [, rel = ''] = request.groups
  const operation = operations.find((each) => each.path === `power/action/${rel}`)
  const [n] = documents.vmsOfVapp(first(request))
  if (!operation || n === undefined) return answer(request, undefined)
  answer(
    request,
    documents.taskDocument(request.queue.submit(operation, n, request.caller.user)),
    202,
  )
}

const entriesOf = (id: string): Map<string, string> => {
  const entries = metadata.get(id) ?? new Map<string, string>([['owner', 'alice']])
  metadata.set(id, entries)
  return entries
}

const metadataRows: readonly SimulatedRow[] = [
  row('GET', '(?:vApp)/((?:vm|vapp)-[0-9a-f-]{36})/metadata', (request) => {
    const [id = ''] = request.groups
    answer(request, {
      link: may(request.caller, 'vm:edit')
        ? [{ rel: 'add', href: `/api/vApp/${id}/metadata` }]
        : [],
      metadataEntry: [...entriesOf(id)].map(([key, value]) => ({
        key,
        typedValue: { kind: 'MetadataStringValue', value },
      })),
    })
  }),
  row('PUT', '(?:vApp)/((?:vm|vapp)-[0-9a-f-]{36})/metadata/([^/]+)', async (request) => {
    const [id = '', key = ''] = request.groups
    const body = await readBody(request.request)
    entriesOf(id).set(decodeURIComponent(key), String(body['value']))
    noContent(request)
  }),
  row('DELETE', '(?:vApp)/((?:vm|vapp)-[0-9a-f-]{36})/metadata/([^/]+)', (request) => {
    const [id = '', key = ''] = request.groups
    entriesOf(id).delete(decodeURIComponent(key))
    noContent(request)
  }),
]

const vmRows: readonly SimulatedRow[] = [
  row('GET', 'vApp/vm-UUID', (request) => {
    const n = first(request)
    const { queue, caller } = request
    if (!mayAt(caller, 'vm:read', 'vapp', factsOf(n).vappN)) return refuse(request)
    answer(
      request,
      isDeleted(n) ? undefined : documents.vmDocument(n, caller, queue.tasks.values()),
    )
  }),
  row('GET', 'vApp/vm-UUID/metrics', (request) => {
    const n = first(request)
    const given = request.url.searchParams
    if (statusOf(n) !== 'UNKNOWN') {
      return answer(
        request,
        metrics(n, Number(given.get('step') ?? 15), Number(given.get('points') ?? 240)),
      )
    }
    const message = `the host of VM ${factsOf(n).name} does not answer; retry in a minute`
    sendError(request.response, 503, 'SERVICE_UNAVAILABLE', message)
  }),
  row('GET', 'vApp/vm-UUID/screen', (request) => {
    const headers = { 'content-type': 'image/svg+xml', 'cache-control': 'no-store' }
    request.response.writeHead(200, headers).end(screenshot(first(request)))
  }),
  row('POST', 'vApp/vm-UUID/screen/action/acquireTicket', (request) =>
    answer(request, {
      expires: new Date(Date.now() + 30_000).toISOString(),
      wss: request.screens.addressOf(`vm-${request.groups[0]}`),
      value: `mks://console.example/vm-${request.groups[0]}?ticket=TICKET`,
    }),
  ),
  ...operations.map((operation) =>
    row(
      operation.rel === 'remove' ? 'DELETE' : 'POST',
      operation.path === '' ? 'vApp/vm-UUID' : `vApp/vm-UUID/${operation.path}`,
      (request) => runOperation(request, operation),
    ),
  ),
]

const leaseOf = (n: number) => leases.get(n) ?? { run: 7 * 86_400, keep: 30 * 86_400 }

const vappRows: readonly SimulatedRow[] = [
  row('GET', 'vApp/vapp-UUID', (request) => {
    const n = first(request)
    if (!mayAt(request.caller, 'vm:read', 'vapp', n)) return refuse(request)
    answer(request, documents.vappDocument(n, request.caller, leaseOf(n)))
  }),
  row('POST', 'vApp/vapp-UUID/power/action/(\\w+)', vappPower),
  row('POST', 'vApp/vapp-UUID/action/recomposeVApp', compose),
  row('PUT', 'vApp/vapp-UUID/leaseSettingsSection', async (request) => {
    const body = await readBody(request.request)
    leases.set(first(request), {
      run: Number(body['deploymentLeaseInSeconds']),
      keep: Number(body['storageLeaseInSeconds']),
    })
    noContent(request)
  }),
  row('GET', 'vdc/UUID', (request) => {
    if (!may(request.caller, 'org:read')) return refuse(request, 'org:read')
    answer(request, vdcDocument(first(request), request.caller))
  }),
  row('GET', 'admin/vdc/UUID', (request) => {
    const n = first(request)
    const { name } = vdcDocument(n, request.caller)
    const alternate = { rel: 'alternate', type: documents.media('vdc'), href: documents.vdcHref(n) }
    answer(request, { name, href: request.url.pathname, link: [alternate] })
  }),
  row('POST', 'vdc/UUID/action/(?:composeVApp|cloneVApp)', compose),
  row('GET', 'task/UUID', (request) => {
    const task = request.queue.tasks.get(request.groups[0] ?? '')
    answer(request, task && documents.taskDocument(task))
  }),
  row('POST', 'task/UUID/action/cancel', (request) => {
    const task = request.queue.tasks.get(request.groups[0] ?? '')
    for (const each of task?.parts ?? (task ? [task] : [])) each.isCancelRequested = true
    noContent(request)
  }),
]

const catalogRows: readonly SimulatedRow[] = [
  row('GET', 'vAppTemplate/vappTemplate-UUID', (request) =>
    answer(request, catalog.templateDocument(first(request))),
  ),
  row('GET', 'catalog/UUID', (request) => {
    const { caller } = request
    const n = first(request)
    if (!mayAt(caller, 'org:read', 'catalog', n)) return refuse(request, 'org:read')
    answer(request, catalog.catalogDocument(n, caller))
  }),
  row('POST', 'catalog/UUID/action/upload', async (request) => {
    const n = catalog.addUpload(first(request), await readBody(request.request))
    answer(request, catalog.uploadDocument(n), 201)
  }),
  row('GET', 'transfer/UUID', (request) => answer(request, catalog.uploadDocument(first(request)))),
  row('PUT', 'transfer/UUID', async (request) => {
    const range = request.request.headers['content-range']
    catalog.receive(first(request), range, await countBody(request.request))
    answer(request, catalog.uploadDocument(first(request)))
  }),
  row('DELETE', 'transfer/UUID', (request) => {
    catalog.deleteUpload(first(request))
    noContent(request)
  }),
  row('GET', 'session/tokens', (request) => answer(request, catalog.tokensDocument())),
  row('POST', 'session/tokens', async (request) => {
    const { name } = await readBody(request.request)
    answer(request, catalog.addToken(String(name)), 201)
  }),
  row('DELETE', 'session/tokens/UUID', (request) => {
    catalog.deleteToken(first(request))
    noContent(request)
  }),
]

const administrationRows: readonly SimulatedRow[] = [
  row('GET', 'admin', (request) => answer(request, administration.adminDocument(request.caller))),
  row('GET', 'admin/org/UUID', (request) =>
    answer(request, administration.orgDocument(first(request), request.caller)),
  ),
  row('GET', 'admin/org/UUID/usage', (request) =>
    answer(request, administration.usageDocument(first(request), request.url.searchParams)),
  ),
  row('PUT', 'admin/org/UUID', async (request) => {
    administration.changeOrg(first(request), await readBody(request.request))
    answer(request, administration.orgDocument(first(request), request.caller))
  }),
  row('POST', 'admin/org/UUID/action/(enable|disable)', (request) => {
    administration.setOrgEnabled(first(request), request.groups[1] === 'enable')
    noContent(request)
  }),
  row('POST', 'admin/org/UUID/users', async (request) => {
    const n = administration.addUser(await readBody(request.request))
    answer(request, administration.userDocument(n), 201)
  }),
  row('POST', 'admin/orgs', (request) =>
    answer(request, administration.orgDocument(7, request.caller), 201),
  ),
  row('GET', 'admin/user/UUID', (request) =>
    answer(request, administration.userDocument(first(request))),
  ),
  row('PUT', 'admin/user/UUID', async (request) => {
    administration.changeUser(first(request), await readBody(request.request))
    answer(request, administration.userDocument(first(request)))
  }),
  row('GET', 'admin/host/UUID', (request) =>
    answer(request, administration.hostDocument(first(request))),
  ),
  row('GET', 'admin/cells', (request) => answer(request, fleet.cellsDocument())),
  row('GET', 'admin/consoles', (request) => answer(request, fleet.consolesDocument())),
  row('DELETE', 'admin/console/UUID', (request) => {
    fleet.closeConsole(first(request))
    noContent(request)
  }),
  row('POST', 'admin/host/UUID/action/(enable|disable)', (request) => {
    setHostEnabled(first(request), request.groups[1] === 'enable')
    noContent(request)
  }),
]

export const rows: readonly SimulatedRow[] = [
  row('GET', 'session', (request) =>
    answer(request, administration.sessionDocument(request.caller)),
  ),
  row('GET', 'query', (request) =>
    answer(request, runQuery(request.queue, request.caller, request.url.searchParams)),
  ),
  row('POST', 'query/action/(\\w+)', actOnQuery),
  ...metadataRows,
  ...vmRows,
  ...vappRows,
  ...networkRows,
  ...edgeRows,
  ...securityGroupRows,
  ...catalogRows,
  ...sharingRows,
  ...administrationRows,
  ...secondFactorRows,
  ...roleRows,
  ...webhookRows,
]

// The same on a terminal: the command line of every action. tests/web-commands.test.ts parses them with the commands of the CLI.
import type { ActionName } from './actions.ts'

export const shellQuoted = (text: string): string =>
  /^[\w.@/:=*-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

type OptionValue = string | boolean | readonly string[] | undefined

/** Options with their values; those without a value are left out. */
export const options = (given: Readonly<Record<string, OptionValue>>): string =>
  Object.entries(given)
    .flatMap(([name, value]) => {
      if (value === true) return [` --${name}`]
      const values = typeof value === 'string' ? [value] : value || []
      return values.filter((each) => each !== '').map((each) => ` --${name} ${shellQuoted(each)}`)
    })
    .join('')

/** An action that is missing has no command yet: then curl alone is shown. */
const lines: Readonly<Partial<Record<ActionName, (vm: string) => string>>> = {
  start: (vm) => `skerry start ${vm}`,
  shutdown: (vm) => `skerry stop ${vm}`,
  reboot: (vm) => `skerry reboot ${vm}`,
  suspend: (vm) => `skerry suspend ${vm}`,
  pause: (vm) => `skerry pause ${vm}`,
  unpause: (vm) => `skerry unpause ${vm}`,
  reset: (vm) => `skerry reset ${vm}`,
  powerOff: (vm) => `skerry stop ${vm} --force`,
  console: (vm) => `skerry console ${vm}`,
  createSnapshot: (vm) => `skerry snapshot create ${vm} before-change`,
  revertSnapshot: (vm) => `skerry snapshot revert ${vm} before-change`,
  removeSnapshot: (vm) => `skerry snapshot rm ${vm} before-change`,
  changeHardware: (vm) => `skerry set ${vm} --cpus 4 --memory 8G`,
  delete: (vm) => `skerry rm ${vm}`,
}

export const commandOf = (action: ActionName, vm: string): string | undefined =>
  lines[action]?.(shellQuoted(vm))

export const snapshotCommand = (vm: string, name: string, hasMemory: boolean): string =>
  `skerry snapshot create ${shellQuoted(vm)} ${shellQuoted(name)}${hasMemory ? '' : ' --disk-only'}`

export const listCommand = (type: 'vm' | 'vapp' | 'task', filter: string): string =>
  filter === '' ? `skerry ${type} list` : `skerry ${type} list --filter ${shellQuoted(filter)}`

/** One command for all VMs that match. An action that is missing has none. */
const bulkVerbs: Readonly<Partial<Record<ActionName, string>>> = {
  start: 'start',
  shutdown: 'stop',
  reboot: 'reboot',
  suspend: 'suspend',
  delete: 'rm',
}

export const bulkCommand = (
  action: ActionName,
  filter: string,
  expect: number,
): string | undefined => {
  const verb = bulkVerbs[action]
  if (verb === undefined) return undefined
  const which = shellQuoted(filter === '' ? 'name==*' : filter)
  return `skerry vm ${verb} --filter ${which} --expect ${expect}`
}

export const curlCommand = (method: string, path: string, body?: unknown): string =>
  [
    'curl',
    method === 'GET' ? '' : `-X ${method}`,
    '-H "x-cloud-authorization: $token"',
    `-H 'Accept: application/*+json;version=5.1'`,
    body === undefined ? '' : `-d ${shellQuoted(JSON.stringify(body))}`,
    `$cloud${path}`,
  ]
    .filter((part) => part !== '')
    .join(' ')

/** GiB where it is whole, as `skerry` takes it. */
export const sizeOption = (mib: number): string => (mib % 1024 === 0 ? `${mib / 1024}G` : `${mib}M`)

export interface CreateVm {
  readonly name: string
  readonly template: string
  readonly cpus: number
  readonly memoryMiB: number
  readonly hasSshKey: boolean
  /** One for each card; none: the network called default. */
  readonly networks?: readonly string[]
  readonly start: boolean
}

export const createCommand = (vm: CreateVm): string =>
  [
    `skerry create ${shellQuoted(vm.name)} --template ${shellQuoted(vm.template)}`,
    `--cpus ${vm.cpus} --memory ${sizeOption(vm.memoryMiB)}`,
    ...(vm.networks ?? []).map((network) => `--network ${shellQuoted(network)}`),
    vm.hasSshKey ? '--ssh-key ~/.ssh/id_ed25519.pub' : '',
    vm.start ? '--start' : '',
  ]
    .filter((part) => part !== '')
    .join(' ')

export interface CreateNetwork {
  readonly name: string
  readonly kind: 'isolated' | 'routed'
  readonly range: string
  readonly gateway: string
  readonly pool: string
  readonly dns: string
  /** Only a routed network can. */
  readonly hasIpv6: boolean
}

/** `skerry` takes one range for the pool; the API takes several. */
export const networkCommand = (network: CreateNetwork): string =>
  [
    `skerry network create ${shellQuoted(network.name)} --range ${shellQuoted(network.range)}`,
    network.kind === 'routed' ? '--routed' : '',
    network.kind === 'routed' && network.hasIpv6 ? '--ipv6' : '',
    network.gateway === '' ? '' : `--gateway ${shellQuoted(network.gateway)}`,
    network.pool === '' ? '' : `--pool ${shellQuoted(network.pool.trim())}`,
    network.dns === '' ? '' : `--dns ${shellQuoted(network.dns.replaceAll(/\s+/g, ''))}`,
  ]
    .filter((part) => part !== '')
    .join(' ')

// Named network namespaces, and the switch that joins the hosts of one lab.
// Names are in /run/netns, where `ip netns exec` looks. We mount them ourselves: `ip netns add` would also mount /run/netns onto
// itself, which nothing ever unmounts.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { allMounts } from '../system/mounts.ts'
import { findInNetworks, namespaceOf } from '../system/processes.ts'
import { attempt, run } from '../system/run.ts'

const NAMES = '/run/netns'
const BRIDGE = 'lab'

/** The switch's own address, from which every host of the lab is reachable. */
export const SWITCH_ADDRESS = '10.91.255.254/16'

/** The bridge of the world, in the same namespace: what is outside of a cloud. Its address is the world's router. */
const WORLD = 'world'
const WORLD_ADDRESS = '198.51.100.1/24'

/** The address of the lab's n-th host, counted from 1. */
export function addressOf(n: number): string {
  return `10.91.${Math.floor(n / 256)}.${n % 256}/16`
}

/** The MAC address of a card: stable across power cycles, because other machines cache it. */
function cardOf(address: string, kind = '5e'): string {
  const numbers = address.replace(/\/.*/, '').split('.').map(Number)
  return ['02', kind, ...numbers.map((each) => each.toString(16).padStart(2, '0'))].join(':')
}

/** Names the network namespace of a process, and replaces an existing name. */
export async function nameNetwork(name: string, pid: number): Promise<void> {
  await forgetNetwork(name)
  await mkdir(NAMES, { recursive: true })
  await writeFile(join(NAMES, name), '')
  await run(['mount', '--bind', `/proc/${pid}/ns/net`, join(NAMES, name)])
}

/** Removes a name. The namespace ends, with all its links, once no process is in it. */
export async function forgetNetwork(name: string): Promise<void> {
  const path = join(NAMES, name)
  // A crash between two mounts may have left more than one on the same name.
  while (allMounts().some(({ at }) => at === path)) {
    const { code, stderr } = await attempt(['umount', '--lazy', path])
    // Another process may have been quicker.
    if (code !== 0 && allMounts().some(({ at }) => at === path)) throw new Error(stderr.trim())
  }
  // Removing the file also removes the mount from the copies in other hosts' mount namespaces.
  await rm(path, { force: true })
}

/** The same command in a named network; unchanged if none is named. It keeps its pid: no process stays in between. */
export function inNetworkNamed(name: string | undefined, command: readonly string[]): string[] {
  return name === undefined
    ? [...command]
    : ['nsenter', `--net=${join(NAMES, name)}`, '--', ...command]
}

/** Removes the names of hosts that died with the program that started them, which could not do it any more. */
export async function forgetDeadHosts(): Promise<void> {
  for (const name of await namesBeginning('skerry-')) {
    const network = networkNamed(name)
    // A switch has no process in it either, but its name has no host name appended.
    if (network === undefined || !/^skerry-[0-9a-f]{8}-/.test(name)) continue
    if (network === namespaceOf('self', 'net')) continue
    if (findInNetworks(new Set([network])).length === 0) await forgetNetwork(name)
  }
}

/** The names of all hosts and switches of labs. */
export const namesOfLabs = async (): Promise<readonly string[]> => namesBeginning('skerry-')

/** Removes the names of labs in which no process is left, except `kept`. Only for a caller that knows that no other lab starts. */
export async function forgetDeadLabs(kept: readonly string[]): Promise<void> {
  const isDead = (name: string) => {
    const network = networkNamed(name)
    return network === undefined || findInNetworks(new Set([network])).length === 0
  }
  const names = (await namesOfLabs()).filter((name) => !kept.includes(name))
  const labs = Map.groupBy(names, (name) => /^skerry-[0-9a-f]{8}/.exec(name)?.[0] ?? name)
  for (const lab of labs.values()) {
    if (lab.every(isDead)) for (const name of lab) await forgetNetwork(name)
  }
}

/** The kernel's name for a named network namespace, or undefined if the name does not exist. */
export function networkNamed(name: string): string | undefined {
  const root = allMounts().findLast(({ at }) => at === join(NAMES, name))?.root
  return root?.startsWith('net:[') ? root : undefined
}

/** All names with this prefix. */
export async function namesBeginning(prefix: string): Promise<string[]> {
  const names = await readdir(NAMES).catch(() => [])
  return names.filter((name) => name.startsWith(prefix))
}

/** A network namespace with only a bridge in it: no link of the lab is ever in the machine's own network. */
export async function makeSwitch(name: string): Promise<void> {
  if (networkNamed(name) === undefined) {
    await forgetNetwork(name)
    await mkdir(NAMES, { recursive: true })
    await writeFile(join(NAMES, name), '')
    await run(['unshare', `--net=${join(NAMES, name)}`, 'true'])
  }
  const bridge = await attempt(['ip', '-n', name, 'link', 'show', BRIDGE])
  if (bridge.code === 0) return
  await inNetwork(name, [
    'link set lo up',
    // A fixed address: otherwise a bridge takes that of a port, and another one when the port goes.
    `link add ${BRIDGE} address ${cardOf(SWITCH_ADDRESS)} type bridge`,
    `address add ${SWITCH_ADDRESS} dev ${BRIDGE}`,
    `link set ${BRIDGE} up`,
  ])
}

/** A second switch in the namespace of the first, for the hosts' eth1: what is outside of a cloud. */
export async function makeWorld(name: string): Promise<void> {
  // Packets for a host's Open vSwitch must have their checksums: it does not complete them.
  await run(inNetworkNamed(name, ['ethtool', '-K', BRIDGE, 'tx', 'off']))
  const bridge = await attempt(['ip', '-n', name, 'link', 'show', WORLD])
  if (bridge.code === 0) return
  await inNetwork(name, [
    `link add ${WORLD} address ${cardOf(WORLD_ADDRESS)} type bridge`,
    `address add ${WORLD_ADDRESS} dev ${WORLD}`,
    `link set ${WORLD} up`,
  ])
  await run(inNetworkNamed(name, ['ethtool', '-K', WORLD, 'tx', 'off']))
}

/** Plugs a host's eth1 into the world, and replaces what was in that port before. */
export async function plugIntoWorld(
  host: { readonly name: string; readonly netns: string; readonly address: string },
  into: string,
): Promise<void> {
  await unplugFromWorld(host.name, into)
  const port = worldPortOf(host.name)
  const card = cardOf(host.address, '5f')
  await inNetwork(into, [
    `link add ${port} type veth peer name eth1 address ${card} netns ${host.netns}`,
    `link set ${port} master ${WORLD} up`,
  ])
  await inNetwork(host.netns, ['link set eth1 up'])
}

export async function unplugFromWorld(host: string, from: string): Promise<void> {
  await unplug(worldPortOf(host), from)
}

/** A name of a link has at most 15 characters. */
const worldPortOf = (host: string): string => `w-${host.slice(0, 13)}`

/** Plugs a host's eth0 into a switch, and replaces what was in that port before. */
export async function plug(
  host: { readonly name: string; readonly netns: string; readonly address: string },
  into: string,
): Promise<void> {
  await unplug(host.name, into)
  await inNetwork(into, [
    `link add ${host.name} type veth peer name eth0 address ${cardOf(host.address)} netns ${host.netns}`,
    `link set ${host.name} master ${BRIDGE} up`,
  ])
  await inNetwork(host.netns, [`address add ${host.address} dev eth0`, 'link set eth0 up'])
}

/** The kernel ends a dead host's namespace some time later; the port must be free before. */
export async function unplug(port: string, from: string): Promise<void> {
  await attempt(['ip', '-n', from, 'link', 'delete', port])
}

async function inNetwork(name: string, commands: readonly string[]): Promise<void> {
  await run(['ip', '-n', name, '-batch', '-'], { input: commands.join('\n') + '\n' })
}

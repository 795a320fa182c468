// The host that carries an edge gateway loses power, comes back, and is cut off from the others.
import assert from 'node:assert/strict'
import { join } from 'node:path'

import { until, type Lab, type LabHost } from '@skerry/lab'
import { setOf, uuidOf } from '@skerry/ovsdb'

import { readOvn } from '../../network/network-site.ts'
import type { Plugged } from '../link-probes.ts'
import { WORLD } from './dual-guests.ts'
import { GUEST_MS, keepPinging, type PingResult } from './guest-traffic.ts'

/** How soon another host carries an edge gateway. */
const FAILOVER_MS = 6_000
const LOOK_MS = 200

/** An edge gateway, and a guest behind it on a host that does not carry it. */
export class CarriedEdge {
  readonly #lab: Lab
  readonly #id: string
  readonly #guest: Plugged
  /** The host that carries it when all are there. */
  readonly #host: LabHost

  private constructor(lab: Lab, id: string, guest: Plugged, host: LabHost) {
    this.#lab = lab
    this.#id = id
    this.#guest = guest
    this.#host = host
  }

  /** `href`: of the edge gateway. */
  static async find(lab: Lab, href: string, guests: readonly Plugged[]): Promise<CarriedEdge> {
    const id = href.slice(-36)
    const preferred = `select host.name from edge_gateway join host on host.id = edge_gateway.hosts[1] where edge_gateway.id = '${id}'`
    const name = await ask(lab, preferred)
    const host = lab.hosts.find((each) => each.name === name)
    const guest = guests.find((each) => each.host !== host)
    assert.ok(host && guest)
    return new CarriedEdge(lab, id, guest, host)
  }

  /** Its host loses power: another one carries it. */
  async losePower(): Promise<PingResult> {
    const result = await this.#pinged(() => this.#host.powerCut(), false)
    assert.ok(result.lost > 0, 'it was this host')
    return result
  }

  /** Its host has power again, and carries it again. */
  returnPower(): Promise<PingResult> {
    return this.#pinged(() => this.#host.powerOn(), true)
  }

  /** No packet passes between its host and the others any more; to the world it does. */
  async cutTunnels(): Promise<PingResult> {
    return this.#pinged(async () => {
      const { code, stderr } = await this.#lab.inWorld([
        'ip',
        'link',
        'set',
        this.#host.name,
        'down',
      ])
      assert.equal(code, 0, stderr)
    }, false)
  }

  /** What a guest's pings to the world notice until its host carries it, or another one does. */
  async #pinged(act: () => Promise<void>, isHome: boolean): Promise<PingResult> {
    const end = await keepPinging(this.#guest, WORLD)
    await act()
    const isThere = async () => {
      const carrier = await this.#carrier()
      return carrier !== undefined && (carrier === this.#host.name) === isHome
    }
    await until(`the edge gateway is where it should be`, isThere, GUEST_MS, LOOK_MS)
    const result = await end()
    assert.ok(result.silenceMs <= FAILOVER_MS, JSON.stringify(result))
    return result
  }

  /** The name of the host that carries it now, as OVN's database has it. */
  async #carrier(): Promise<string | undefined> {
    const zone = await ask(this.#lab, `select holder || ' ' || opened from network_zone`)
    const [holder = '', token = ''] = zone.split(' ')
    const at = { data: join(this.#lab.dir, holder, 'data') }
    const read = (table: string, columns: readonly string[]) =>
      readOvn(at, token, 'southbound', table, columns)
    const ports = await read('Port_Binding', ['logical_port', 'chassis'])
    const own = ports?.find(({ logical_port: name }) => name === `cr-out-${this.#id}`)
    const [chassis] = setOf(own?.['chassis'])
    const all = await read('Chassis', ['_uuid', 'name'])
    const row = all?.find((each) => chassis && uuidOf(each['_uuid']) === uuidOf(chassis))
    if (!row) return undefined
    return ask(this.#lab, `select name from host where id = '${String(row['name'])}'`)
  }
}

async function ask({ cloud }: Lab, sql: string): Promise<string> {
  return ((await cloud?.postgres.psql(sql, 'cloud')) ?? '').trim()
}

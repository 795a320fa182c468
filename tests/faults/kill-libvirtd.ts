import { setTimeout as sleep } from 'node:timers/promises'

import type { SeededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import type { Driven } from './driven.ts'
import type { Scene } from './storm.ts'

/** Ends libvirtd like a crash; it comes back at once or after a while. */
export async function killLibvirtd({ host }: Scene<Driven>, chance: SeededRandom): Promise<void> {
  await host.killLibvirt()
  await sleep(chance.between(0, 1500))
  await host.startLibvirt()
}

// The cloud-init data of a guest at its first boot, seen from inside: a Debian guest of the cloud, reached by SSH.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { guestImage, reasonToSkip, until } from '@skerry/lab'
import { attribute, text } from '@skerry/xml'

import { taskOf } from '../../../apps/cloud/test/cloud-client.ts'
import type { Ledger } from './links.ts'
import { BOOT_MS, domainOf, logIn, nodesIn, skip, tenant, there, vmsOf } from './place.ts'

/** It takes one to two minutes on an idle machine. */
const DEBIAN_MS = 400_000

export function testGuestSeed(ledger: Ledger): void {
  test(
    'Debian takes an SSH key and a name at instantiate, and is reachable at the address in its document',
    { skip: skip || (reasonToSkip('debian') ?? false) },
    async () => {
      const client = await logIn(tenant())
      await using dir = await mkdtempDisposable(join(tmpdir(), 'cloud-seed-'))
      const key = join(dir.path, 'key')
      await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
      const publicKey = (await readFile(`${key}.pub`, 'utf8')).trim()
      const { org } = tenant()
      const added = (await there().cloud.administer([
        'template',
        'import',
        await guestImage('debian'),
        '--org',
        org,
        '--name',
        'Debian',
        '--cpus',
        '2',
        '--memory',
        '768',
      ])) as { readonly template: string }
      const template = tenant().template.replace(/[0-9a-f-]{36}$/, added.template)
      const made = await client.ask('POST', `${tenant().vdc}/action/instantiateVAppTemplate`, {
        body:
          `<InstantiateVAppTemplateParams name="debian" powerOn="true"><Source href="${template}"/>` +
          `<GuestCustomizationSection><ComputerName>harbour</ComputerName><SshKey>${publicKey}</SshKey></GuestCustomizationSection>` +
          `</InstantiateVAppTemplateParams>`,
      })
      const task = await client.ended(taskOf(made.root), BOOT_MS)
      assert.equal(attribute(task, 'status'), 'success', made.text)
      const vapp = attribute(made.root, 'href') ?? ''
      const [vm = ''] = await vmsOf(client, vapp)
      const address = await until(
        'its host reports the address',
        async () => {
          const [section] = nodesIn(await client.get(vm), 'NetworkConnectionSection')
          const [card] = nodesIn(section, 'NetworkConnection')
          return text(nodesIn(card, 'IpAddress')[0]) || undefined
        },
        BOOT_MS,
      )
      assert.match(address, /^10\.8[4-7]\./)
      const { host } = await domainOf(vm)
      const login = [
        'ssh',
        '-i',
        key,
        '-o',
        'IdentitiesOnly=yes',
        '-o',
        'BatchMode=yes',
        '-o',
        'StrictHostKeyChecking=no',
        '-o',
        'UserKnownHostsFile=/dev/null',
        '-o',
        'ConnectTimeout=20',
        `root@${address}`,
        'hostname',
      ]
      const said = await until(
        'SSH accepts the key',
        async () => {
          const { code, stdout } = await host.run(login)
          if (code !== 0) await sleep(2000)
          return code === 0 && stdout
        },
        DEBIAN_MS,
      )
      assert.equal(said.trim(), 'harbour')
      await ledger.act(client, vapp, 'power:powerOff')
      await ledger.act(client, vapp, 'remove')
    },
  )
}

// Networks that a client finds in its organisation.
import assert from 'node:assert/strict'

import { attribute, element, renderDocument } from '@skerry/xml'

import { taskOf, type CloudClient } from '../../../apps/cloud/test/cloud-client.ts'

/** A routed network, 10.30.0.0/24, made by an administrator of the organisation. */
export async function makeNetwork(somebody: CloudClient, name: string): Promise<void> {
  const { vdc } = await somebody.start()
  const scope = element(
    'IpScope',
    {},
    element('IsInherited', {}, 'false'),
    element('Gateway', {}, '10.30.0.1'),
    element('Netmask', {}, '255.255.255.0'),
  )
  const body = element(
    'OrgVdcNetwork',
    { name },
    element(
      'Configuration',
      {},
      element('IpScopes', {}, scope),
      element('FenceMode', {}, 'natRouted'),
    ),
  )
  const made = await somebody.ask('POST', vdc.replace('/api/', '/api/admin/') + '/networks', {
    body: renderDocument(body),
  })
  assert.equal(made.status, 201, made.text)
  assert.equal(attribute(await somebody.ended(taskOf(made.root)), 'status'), 'success')
}

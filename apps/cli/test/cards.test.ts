// Goal: a command that changes one card of a VM leaves the others as they are. Method: sections as the cloud writes them.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { childrenByLocalName, readXml, text, type Element } from '@skerry/xml'

import { cardsIn, connectCard, disconnectCard } from '../src/cloud/cards.ts'

const card = (index: number, network: string, address: string) =>
  `<NetworkConnection network="${network}"><NetworkConnectionIndex>${index}</NetworkConnectionIndex><IpAddress>${address}</IpAddress><IsConnected>true</IsConnected><MACAddress>52:54:00:00:00:0${index}</MACAddress><IpAddressAllocationMode>POOL</IpAddressAllocationMode></NetworkConnection>`
const section = readXml(
  `<NetworkConnectionSection><Link rel="edit" href="https://cloud.example/api/x"/>${card(0, 'default', '10.84.0.10')}${card(1, 'backend', '192.168.10.7')}</NetworkConnectionSection>`,
)
const parts = (changed: Element, index: number, ...names: readonly string[]) => {
  const found = childrenByLocalName(changed, 'NetworkConnection')[index]
  return names.map((name) => text(childrenByLocalName(found, name)[0]))
}

test('a card on another network keeps its MAC address, and the cloud chooses its address', () => {
  const changed = connectCard(section, { index: 0, network: 'web' })
  assert.deepEqual(cardsIn(changed), [
    { index: 0, network: 'web', address: null, ipv6: null, external: null, connected: true },
    {
      index: 1,
      network: 'backend',
      address: '192.168.10.7',
      ipv6: null,
      external: null,
      connected: true,
    },
  ])
  assert.deepEqual(parts(changed, 0, 'MACAddress', 'IpAddressAllocationMode'), [
    '52:54:00:00:00:00',
    'DHCP',
  ])
  assert.deepEqual(childrenByLocalName(changed, 'Link'), [], 'links are not sent back')
})

test('a card of a new index is added, with the address that is given', () => {
  const changed = connectCard(section, { index: 2, network: 'web', address: '10.20.0.9' })
  assert.deepEqual(
    cardsIn(changed).map(({ index, address }) => [index, address]),
    [
      [0, '10.84.0.10'],
      [1, '192.168.10.7'],
      [2, '10.20.0.9'],
    ],
  )
  assert.deepEqual(parts(changed, 2, 'MACAddress', 'IpAddressAllocationMode'), [
    undefined,
    'MANUAL',
  ])
})

test('a disconnected card keeps its network and address, and connects again with both', () => {
  const without = disconnectCard(section, 1)
  assert.ok(without)
  assert.deepEqual(cardsIn(without)[1], {
    index: 1,
    network: 'backend',
    address: '192.168.10.7',
    ipv6: null,
    external: null,
    connected: false,
  })
  const again = connectCard(without, { index: 1, network: 'backend' })
  assert.deepEqual(cardsIn(again), cardsIn(section))
  assert.equal(disconnectCard(section, 7), undefined)
})

// A valid request for every route, as a base for malformed bytes.
import assert from 'node:assert/strict'

import type { CloudRoute } from '../src/http/route.ts'
import type { Opened } from './api-process.ts'
import { acceptOf } from './every-route.ts'
import type { Draft } from './malformed.ts'
import { instantiate } from './tenants-api.ts'

/** The kind of a route. */
export function kindOf({ permission, path, method, answers }: CloudRoute): string {
  if (permission === 'login') return 'login'
  if (/upload|transfer/i.test(path)) return 'upload'
  if (path.endsWith('/query')) return 'query'
  if (path.startsWith('/api/admin')) return 'admin'
  if (method === 'DELETE') return 'delete'
  if (method === 'GET') return 'read'
  return answers[201] === undefined ? 'action' : 'create'
}

const XMLNS = 'xmlns="urn:skerry:cloud:1.5"'
const item = (kind: number, quantity: number) =>
  `<Item><ResourceType>${kind}</ResourceType><VirtualQuantity>${quantity}</VirtualQuantity></Item>`

const GUEST =
  '<GuestCustomizationSection><ComputerName>one</ComputerName><UserData>#cloud-config&#10;a: 1</UserData></GuestCustomizationSection>'

/** Bodies by the element that a route takes; an element that is missing here has only a name. */
const bodies: Readonly<Record<string, (opened: Opened, name: string) => string>> = {
  InstantiateVAppTemplateParams: ({ ids }, name) =>
    instantiate(name, (ids['template'] ?? '').slice(-36), false).replace(
      '</Inst',
      `${GUEST}</Inst`,
    ),
  ComposeVAppParams: ({ ids }, name) =>
    `<ComposeVAppParams ${XMLNS} name="${name}"><SourcedItem><Source name="${name}" href="https://cloud.example/api/vAppTemplate/${ids['template']}"/></SourcedItem></ComposeVAppParams>`,
  RecomposeVAppParams: ({ ids }, name) =>
    `<RecomposeVAppParams ${XMLNS}><SourcedItem><Source name="${name}" href="https://cloud.example/api/vAppTemplate/${ids['template']}"/></SourcedItem></RecomposeVAppParams>`,
  CloneVAppParams: ({ vapp }, name) =>
    `<CloneVAppParams ${XMLNS} name="${name}"><Source href="https://cloud.example/api/vApp/${vapp}"/></CloneVAppParams>`,
  LeaseSettingsSection: () =>
    `<LeaseSettingsSection ${XMLNS}><DeploymentLeaseInSeconds>60</DeploymentLeaseInSeconds></LeaseSettingsSection>`,
  UploadParams: (_, name) =>
    `<UploadParams ${XMLNS} name="${name}" size="4096" sha256="${'0'.repeat(64)}" memoryMB="96"/>`,
  Metadata: (_, name) =>
    `<Metadata ${XMLNS} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><MetadataEntry><Key>${name}</Key><TypedValue xsi:type="MetadataNumberValue"><Value>7</Value></TypedValue></MetadataEntry></Metadata>`,
  MetadataValue: (_, name) => `<MetadataValue ${XMLNS}><Value>${name}</Value></MetadataValue>`,
  Vm: () =>
    `<Vm ${XMLNS} name="x"><VirtualHardwareSection>${item(3, 2)}${item(4, 128)}${item(17, 64)}</VirtualHardwareSection></Vm>`,
  UndeployVAppParams: () =>
    `<UndeployVAppParams ${XMLNS}><UndeployPowerAction>powerOff</UndeployPowerAction></UndeployVAppParams>`,
  DeployVAppParams: () => `<DeployVAppParams ${XMLNS} powerOn="true"/>`,
  CreateSnapshotParams: (_, name) =>
    `<CreateSnapshotParams ${XMLNS} name="${name}" memory="false"><Description>d</Description></CreateSnapshotParams>`,
  User: (_, name) =>
    `<User ${XMLNS} name="${name}"><Role name="user"/><Password>long enough</Password><IsEnabled>true</IsEnabled></User>`,
  AdminOrg: (_, name) =>
    `<AdminOrg ${XMLNS} name="${name}"><IsEnabled>true</IsEnabled><Quota vms="7" cpus="9"/></AdminOrg>`,
  AdminVdc: (_, name) => `<AdminVdc ${XMLNS} name="${name}"><IsEnabled>true</IsEnabled></AdminVdc>`,
}

export function bodyOf({ takes }: CloudRoute, opened: Opened, name: string): string {
  if (!takes) return ''
  const { shape } = takes
  if (typeof shape !== 'string') return 'bytes'
  const [element = ''] = shape.split(' or ')
  return bodies[element]?.(opened, name) ?? `<${element} ${XMLNS} name="${name}"/>`
}

const QUERY = 'filter=status==POWERED_ON&fields=name&page=1&pageSize=25&sortAsc=name'

export function rightful(route: CloudRoute, opened: Opened, name: string): Draft {
  const whole = /recompose|leaseSettings/.test(route.path)
  const ids: Readonly<Record<string, string>> = {
    ...opened.ids,
    ...(whole && { entity: opened.vapp }),
  }
  const path = route.path.replace(/:(\w+)/g, (_, each: string) => {
    assert.ok(ids[each], `no example of :${each}`)
    return ids[each]
  })
  const kind = kindOf(route)
  const type = path === '/api/query' ? 'type=vm&' : ''
  const token =
    route.name === 'deleteSession'
      ? opened.leaver
      : path.startsWith('/api/admin')
        ? opened.administrator
        : opened.author
  const basic = Buffer.from('nobody@eng:secret').toString('base64')
  return {
    method: route.method,
    path: kind === 'query' ? `${path}?${type}${type === '' ? 'pageSize=25' : QUERY}` : path,
    version: 'HTTP/1.1',
    headers: [
      ['Host', '127.0.0.1'],
      ['Accept', acceptOf(route).accept],
      ['Content-Type', 'application/xml'],
      kind === 'login' ? ['Authorization', `Basic ${basic}`] : ['x-cloud-authorization', token],
    ],
    body: Buffer.from(bodyOf(route, opened, name), 'utf8').toString('latin1'),
    length: 'right',
    tail: '',
    isCut: false,
  }
}

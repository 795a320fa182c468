// Organisations of a lab's cloud, each with a user and a bootable template, created and found through the API.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'

import { attribute, childrenByLocalName, readXml, type Element } from '@skerry/xml'

import { guestImage } from '../host/guest-image.ts'
import type { Administer } from './administer.ts'

const ROLE = 'author'
const ANSWER_MS = 60_000

export interface Login {
  readonly org: string
  readonly user: string
  readonly password: string
}

export interface Tenant extends Login {
  /** URLs as the cloud returns them. */
  readonly vdc: string
  readonly template: string
}

export const newPassword = (): string => randomBytes(12).toString('hex')

/** An organisation with a user and a template of the small guest. */
export async function makeTenant(
  administer: Administer,
  org: string,
  user: string,
): Promise<Login> {
  const password = newPassword()
  await administer(['org', 'create', org])
  await administer(['user', 'create', `${user}@${org}`, '--role', ROLE], password)
  const sizes = ['--cpus', '1', '--memory', '128']
  const image = await guestImage('small')
  await administer(['template', 'import', image, '--org', org, '--name', 'small', ...sizes])
  return { org, user, password }
}

/** Logs in and follows the links to the tenant's organisation. */
export async function findBeginning(
  cloud: { readonly url: string; readonly ca: string },
  login: Login,
): Promise<Tenant> {
  const basic = Buffer.from(`${login.user}@${login.org}:${login.password}`).toString('base64')
  const opened = await ask(cloud, 'POST', '/api/sessions', { authorization: `Basic ${basic}` })
  const token = { 'x-cloud-authorization': String(opened.headers['x-cloud-authorization']) }
  const get = async (where: string) => (await ask(cloud, 'GET', where, token)).root
  const [org = ''] = linksTo(opened.root, 'org+xml')
  const [vdc = ''] = linksTo(await get(org), 'vdc+xml')
  const [entities] = childrenByLocalName(await get(vdc), 'ResourceEntities')
  const [template] = childrenByLocalName(entities, 'ResourceEntity')
  return { ...login, vdc, template: attribute(template, 'href') ?? '' }
}

const linksTo = (root: Element, type: string): string[] =>
  childrenByLocalName(root, 'Link')
    .filter((link) => attribute(link, 'type')?.endsWith(type))
    .map((link) => attribute(link, 'href') ?? '')

async function ask(
  { url, ca }: { readonly url: string; readonly ca: string },
  method: string,
  where: string,
  headers: Readonly<Record<string, string>>,
) {
  const requested = request(new URL(where, url), {
    method,
    ca,
    agent: false,
    signal: AbortSignal.timeout(ANSWER_MS),
    headers: { accept: 'application/*+xml;version=5.1', ...headers },
  })
  requested.end()
  const [response] = (await once(requested, 'response')) as [IncomingMessage]
  const said = await text(response)
  if (response.statusCode !== 200) {
    throw new Error(`${method} ${where}: ${response.statusCode} ${said}`)
  }
  return { headers: response.headers, root: readXml(said) }
}

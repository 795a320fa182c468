import { linkTo } from '@skerry/cloud-client'
import { attribute, childrenByLocalName, type Element } from '@skerry/xml'

import { adminOrg } from '../../cloud/admin-org.ts'
import { Failure } from '../../terminal/failure.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'

/** A list that an organisation's administrator manages by name. */
export interface OrgList {
  /** Display name of one entry: webhook. */
  readonly called: string
  /** Media type of the list. */
  readonly type: string
  /** Element of one entry. */
  readonly element: string
  /** The command that prints the list. */
  readonly listed: string
}

export const orgOption = {
  org: { type: 'string', value: 'ORG', doc: 'organisation (default: yours)' },
} as const

export const readOrgList = async (
  side: CloudSession,
  list: OrgList,
  org: string | undefined,
): Promise<Element> => side.cloud.get(linkTo(await adminOrg(side, org), 'down', list.type))

/** The document of the entry with this name. */
export async function entryNamed(
  side: CloudSession,
  list: OrgList,
  org: string | undefined,
  name: string,
): Promise<Element> {
  const found = childrenByLocalName(await readOrgList(side, list, org), list.element).find(
    (each) => attribute(each, 'name') === name,
  )
  if (found) return side.cloud.get(attribute(found, 'href') ?? '')
  throw new Failure('refused', `there is no ${list.called} ${name}`, {
    hint: `${list.listed} lists them`,
  })
}

/** Deletes the entry with this name; returns what to print. */
export async function removeEntry(
  side: CloudSession,
  list: OrgList,
  org: string | undefined,
  name: string,
): Promise<{ readonly removed: string; readonly message: string }> {
  const document = await entryNamed(side, list, org, name)
  await side.cloud.act('DELETE', linkTo(document, 'remove'))
  return { removed: name, message: `${list.called} ${name} is removed` }
}

import { inside, linkTo } from '@skerry/cloud-client'
import { attribute, type Element } from '@skerry/xml'

import { adminOrg } from '../../cloud/admin-org.ts'
import { vdcFor } from '../../cloud/create.ts'
import { idIn } from '../../cloud/named.ts'
import { Failure } from '../../terminal/failure.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'

export const vdcOptions = {
  vdc: { type: 'string', value: 'VDC', doc: 'data centre (default: the only one)' },
  org: {
    type: 'string',
    value: 'ORG',
    doc: 'organisation of the data centre, for cloud administrators (default: yours)',
  },
} as const

interface WantedVdc {
  readonly vdc?: string | undefined
  readonly org?: string | undefined
}

/** The data centre that a command line names. Queries list those of the own organisation; for another one its document does. */
export async function findVdc(side: CloudSession, { vdc, org }: WantedVdc): Promise<Element> {
  const { cloud } = side
  if (org === undefined) return cloud.get(await vdcFor(side, vdc))
  const all = inside(await adminOrg(side, org), 'Vdcs', 'Vdc').map((each) => ({
    name: attribute(each, 'name') ?? '',
    href: attribute(each, 'href') ?? '',
  }))
  const [only, other] =
    vdc === undefined ? all : all.filter(({ name, href }) => name === vdc || idIn(href) === vdc)
  if (only && !other) return cloud.get(linkTo(await cloud.get(only.href), 'alternate', 'vdc'))
  const names = all.map(({ name }) => name).join(', ')
  if (only) {
    throw new Failure('refused', `${org} has several data centres`, {
      hint: `choose one with --vdc: ${names}`,
    })
  }
  throw new Failure('refused', `${org} has no data centre${vdc === undefined ? '' : ` ${vdc}`}`, {
    hint: names === '' ? `skerry vdc create NAME --org ${org} creates one` : `it has ${names}`,
  })
}

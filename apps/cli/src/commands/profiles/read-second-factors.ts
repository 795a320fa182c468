import type { Cloud } from '@skerry/cloud-client'
import { attribute, childrenByLocalName, text, type Element } from '@skerry/xml'

export const SECOND_FACTORS = '/api/session/secondFactors'

export interface ListedSecondFactor {
  readonly name: string
  readonly kind: string
  /** Whether a code of it was sent. */
  readonly confirmed: boolean
  readonly made: string
  /** Absent if never used. */
  readonly used?: string
}

export interface SecondFactorList {
  readonly document: Element
  readonly factors: readonly ListedSecondFactor[]
  readonly recoveryCodesLeft: number
  /** Whether the organisation requires one. */
  readonly required: boolean
}

function rowIn(document: Element): ListedSecondFactor {
  const used = text(childrenByLocalName(document, 'LastUsed')[0])
  return {
    name: attribute(document, 'name') ?? '',
    kind: attribute(document, 'kind') ?? '',
    confirmed: attribute(document, 'confirmed') === 'true',
    made: text(childrenByLocalName(document, 'Created')[0]) ?? '',
    ...(used !== undefined && { used }),
  }
}

/** The second factors of the logged-in user. */
export async function readSecondFactors(cloud: Cloud): Promise<SecondFactorList> {
  const document = await cloud.get(SECOND_FACTORS)
  return {
    document,
    factors: childrenByLocalName(document, 'SecondFactor').map(rowIn),
    recoveryCodesLeft: Number(attribute(document, 'recoveryCodesLeft') ?? 0),
    required: attribute(document, 'required') === 'true',
  }
}

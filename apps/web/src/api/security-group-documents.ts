// The documents of security groups as JSON: the parts that the pages read and send.
import type { ApiLink } from './documents.ts'

export interface GroupLabelDocument {
  readonly key: string
  readonly value?: string
}

/** Packets that a group allows. Without cidr and peerGroup the peer is anybody. */
export interface GroupRuleDocument {
  readonly protocol: 'tcp' | 'udp' | 'icmp' | 'any'
  /** Of the destination, such as 443 or 8000-8080; missing: all. */
  readonly portRange?: string
  readonly cidr?: string
  readonly peerGroup?: { readonly name?: string; readonly href?: string }
}

export interface GroupRulesDocument {
  readonly rule?: readonly GroupRuleDocument[]
}

/** What a request replaces: a section that is missing limits nothing. */
export interface GroupPartsDocument {
  readonly name: string
  readonly description?: string
  readonly selector?: { readonly label?: readonly GroupLabelDocument[] }
  readonly inbound?: GroupRulesDocument
  readonly outbound?: GroupRulesDocument
}

export interface SecurityGroupDocument extends GroupPartsDocument {
  readonly href: string
  /** 0: a change is on its way to the hosts. */
  readonly status?: number
  /** Rises with each change. */
  readonly version?: number
  readonly link?: readonly ApiLink[]
  /** The VMs that have all labels: how many, and the first of them. */
  readonly members?: {
    readonly total: number
    readonly vmReference?: readonly { readonly name: string; readonly href: string }[]
  }
}

// Changes of security groups.
import { linkOf } from '../../api/documents.ts'
import type { SecurityGroupDocument } from '../../api/security-group-documents.ts'
import { linesOfGroup, partsOf, type GroupChange } from '../../model/networks/security-group.ts'
import { useVersionedChange, versionedCurl, type VersionedKind } from './use-versioned-change.ts'

const securityGroups: VersionedKind<SecurityGroupDocument, GroupChange> = {
  method: 'PUT',
  changeHref: (group) => linkOf(group, 'edit'),
  bodyOf: (group, change) => change(partsOf(group)),
  linesOf: linesOfGroup,
}

export const groupCurl = (group: SecurityGroupDocument, change: GroupChange): string =>
  versionedCurl(securityGroups, group, change)

export const useGroupChange = () => useVersionedChange(securityGroups)

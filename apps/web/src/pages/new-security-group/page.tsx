import { useState, type FormEvent } from 'react'
import { useNavigate } from 'react-router'

import { idOf, pathOf } from '../../api/client.ts'
import { linkOf, type GroupListDocument } from '../../api/documents.ts'
import type { SecurityGroupDocument } from '../../api/security-group-documents.ts'
import { CreateButtons } from '../../app/create-buttons.tsx'
import { GroupFields } from '../../app/networks/group-fields.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { useSession } from '../../data/session.ts'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import { curlCommand } from '../../model/commands.ts'
import { groupCommand } from '../../model/networks/network-commands.ts'
import {
  describeGroup,
  whyNotGroup,
  type WrittenGroup,
} from '../../model/networks/security-group.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

const initial: WrittenGroup = {
  name: '',
  description: '',
  labels: '',
  limitsIn: true,
  limitsOut: false,
}

const bodyOf = (group: WrittenGroup) => describeGroup(group)({ name: group.name })

export function NewSecurityGroupPage() {
  usePageTitle(
    { text: 'Security groups', to: paths.securityGroups },
    { text: 'Create security group' },
  )
  const [group, setGroup] = useState(initial)
  const { orgHref, role } = useSession()
  const list = useDocument<GroupListDocument>(
    orgHref === undefined ? undefined : `/api/admin/org/${idOf(orgHref)}/securityGroups`,
  )
  const href = linkOf(list.data, 'add')
  const navigate = useNavigate()
  const { makeChange, isPending } = useChange<SecurityGroupDocument>()
  const reason = isPending
    ? 'the security group is being created'
    : !list.data
      ? 'the organisation is not loaded yet'
      : href === undefined
        ? en.missingRight(role, 'network:edit')
        : whyNotGroup(group)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (reason !== undefined || href === undefined) return
    makeChange({
      href,
      method: 'POST',
      body: bodyOf(group),
      success: `Created security group ${group.name}`,
      failure: `Security group ${group.name} was not created`,
      onDone: (made) => void navigate(paths.securityGroup(idOf(made.href))),
    })
  }
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <form className={`${page['columns']} ${page['form']}`} onSubmit={submit}>
        <div className={page['stack']}>
          <Card>
            <div className={page['fields']}>
              <GroupFields group={group} onChange={(part) => setGroup({ ...group, ...part })} />
            </div>
          </Card>
          <CreateButtons
            action="Create security group"
            unavailable={reason}
            list={paths.securityGroups}
          />
        </div>
        <TerminalCard group={group} href={href} />
      </form>
    </div>
  )
}

interface TerminalCardProps {
  readonly group: WrittenGroup
  readonly href: string | undefined
}

function TerminalCard({ group, href }: TerminalCardProps) {
  const named = { ...group, name: group.name === '' ? 'web' : group.name }
  const command = groupCommand(named)
  return (
    <Card title="On a terminal">
      <div className={page['stack']}>
        <p className={page['soft']}>
          The same as a command. Rules are added on the page of the group.
        </p>
        {command !== undefined && <CommandLine wraps text={command} />}
        {href !== undefined && (
          <CommandLine wraps text={curlCommand('POST', pathOf(href), bodyOf(named))} />
        )}
      </div>
    </Card>
  )
}

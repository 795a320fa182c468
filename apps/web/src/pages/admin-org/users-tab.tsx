import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'

import { pathOf, request } from '../../api/client.ts'
import { linkOf, type AdminOrgDocument, type UserDocument } from '../../api/documents.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Menu } from '../../components/menu.tsx'
import { Table } from '../../components/table.tsx'
import { useChange } from '../../data/use-change.ts'
import { UserDialog } from './user-dialog.tsx'

import page from '../../styles/page.module.css'

const useUsers = (org: AdminOrgDocument): readonly UserDocument[] =>
  useQueries({
    queries: (org.users?.userReference ?? []).map(({ href }) => ({
      queryKey: ['document', pathOf(href)],
      queryFn: ({ signal }: { signal: AbortSignal }) => request<UserDocument>(href, { signal }),
    })),
  }).flatMap(({ data }) => (data ? [data] : []))

export function UsersTab({ org }: { readonly org: AdminOrgDocument }) {
  const users = useUsers(org)
  const [edited, setEdited] = useState<UserDocument | 'new'>()
  const addHref = linkOf(org, 'add', 'user')
  return (
    <Card
      title="Users"
      flush
      tools={
        <Button
          small
          icon="plus"
          unavailable={addHref === undefined ? 'your role may not add users' : undefined}
          onClick={() => setEdited('new')}
        >
          Add user
        </Button>
      }
    >
      <Table
        label="Users"
        rows={users}
        keyOf={(user) => user.href}
        empty="No users yet."
        columns={[
          {
            key: 'name',
            title: 'Name',
            isEssential: true,
            cell: (user) => <span className={page['strong']}>{user.name}</span>,
          },
          {
            key: 'role',
            title: 'Role',
            cell: (user) => <span className={page['soft']}>{user.role?.name}</span>,
          },
          {
            key: 'state',
            title: 'State',
            isEssential: true,
            cell: (user) => (
              <span className={user.isEnabled ? page['good'] : page['idle']}>
                {user.isEnabled ? 'Enabled' : 'Disabled'}
              </span>
            ),
          },
          {
            key: 'tools',
            title: 'Actions',
            isTitleHidden: true,
            isNumeric: true,
            isEssential: true,
            cell: (user) => <UserMenu user={user} onEdit={() => setEdited(user)} />,
          },
        ]}
      />
      {edited !== undefined && (
        <UserDialog
          user={edited === 'new' ? undefined : edited}
          href={edited === 'new' ? (addHref ?? '') : edited.href}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Card>
  )
}

function UserMenu({ user, onEdit }: { readonly user: UserDocument; readonly onEdit: () => void }) {
  const { makeChange } = useChange()
  const unavailable =
    linkOf(user, 'edit') === undefined ? 'your role may not change this user' : undefined
  return (
    <Menu
      trigger={<Button small tone="plain" icon="more" label={`Actions of ${user.name}`} />}
      groups={[
        {
          items: [
            { text: 'Change role or password', icon: 'users', unavailable, onSelect: onEdit },
            {
              text: user.isEnabled ? 'Disable' : 'Enable',
              icon: user.isEnabled ? 'close' : 'check',
              unavailable,
              onSelect: () =>
                makeChange({
                  href: user.href,
                  method: 'PUT',
                  body: { isEnabled: !user.isEnabled },
                  success: `${user.isEnabled ? 'Disabled' : 'Enabled'} ${user.name}`,
                  failure: `${user.name} was not changed`,
                }),
            },
          ],
        },
      ]}
    />
  )
}

import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'

import { pathOf, request } from '../../api/client.ts'
import { linkOf, type AdminOrgDocument, type UserDocument } from '../../api/documents.ts'
import { EditedTable } from '../../app/records/edited-table.tsx'
import { Button } from '../../components/button.tsx'
import { Menu } from '../../components/menu.tsx'
import { useChange } from '../../data/use-change.ts'
import { RemoveFactorsDialog } from './remove-factors-dialog.tsx'
import { SecondFactorRule } from './second-factor-rule.tsx'
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
  return (
    <div className={page['stack']}>
      <UsersCard org={org} />
      <SecondFactorRule key={org.href} org={org} />
    </div>
  )
}

function UsersCard({ org }: { readonly org: AdminOrgDocument }) {
  const users = useUsers(org)
  const addHref = linkOf(org, 'add', 'user')
  return (
    <EditedTable
      title="Users"
      rows={users}
      keyOf={(user) => user.href}
      empty="No users yet."
      add="Add user"
      unavailable={addHref === undefined ? 'your role may not add users' : undefined}
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
      ]}
      menu={(user, onEdit) => <UserMenu user={user} org={org.name} onEdit={onEdit} />}
      dialog={(user, onClose) => (
        <UserDialog
          user={user}
          rolesHref={linkOf(org, 'down', 'admin.roles')}
          href={user?.href ?? addHref ?? ''}
          onClose={onClose}
        />
      )}
    />
  )
}

interface UserMenuProps {
  readonly user: UserDocument
  readonly org: string
  readonly onEdit: () => void
}

function UserMenu({ user, org, onEdit }: UserMenuProps) {
  const [isRemoving, setRemoving] = useState(false)
  const { makeChange } = useChange()
  const unavailable =
    linkOf(user, 'edit') === undefined ? 'your role may not change this user' : undefined
  return (
    <>
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
              {
                text: 'Remove second factors',
                icon: 'key',
                unavailable:
                  linkOf(user, 'removeSecondFactors') === undefined
                    ? 'an identity server proves this user, or your role may not'
                    : undefined,
                onSelect: () => setRemoving(true),
              },
            ],
          },
        ]}
      />
      {isRemoving && (
        <RemoveFactorsDialog user={user} org={org} onClose={() => setRemoving(false)} />
      )}
    </>
  )
}

// The roles that an organisation has of its own: sets of rights, which users and groups have by their names.
import { linkOf, type AdminOrgDocument, type OrgRolesDocument } from '../../../api/documents.ts'
import { EditedTable } from '../../../app/records/edited-table.tsx'
import { Card } from '../../../components/card.tsx'
import { CommandLine } from '../../../components/command-line.tsx'
import { ErrorState } from '../../../components/empty-state.tsx'
import { useDocument } from '../../../data/use-documents.ts'
import { shellQuoted } from '../../../model/commands.ts'
import { RoleDialog } from './role-dialog.tsx'
import { RoleMenu } from './role-menu.tsx'

import page from '../../../styles/page.module.css'

export function RolesTab({ org }: { readonly org: AdminOrgDocument }) {
  const { data, error, refetch } = useDocument<OrgRolesDocument>(linkOf(org, 'down', 'admin.roles'))
  const addHref = linkOf(data, 'add')
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div className={page['stack']}>
      <EditedTable
        title="Roles"
        rows={data?.orgRole ?? []}
        keyOf={({ href }) => href}
        empty="No roles beside those that every organisation has. A role is a set of rights."
        add="Add role"
        unavailable={addHref === undefined ? 'the list is being read' : undefined}
        columns={[
          {
            key: 'name',
            title: 'Name',
            isEssential: true,
            cell: ({ name }) => <span className={page['strong']}>{name}</span>,
          },
          { key: 'rights', title: 'Rights', cell: ({ right = [] }) => right.join(', ') },
          { key: 'users', title: 'Users', isNumeric: true, cell: ({ users = 0 }) => users },
          { key: 'groups', title: 'Groups', isNumeric: true, cell: ({ groups = 0 }) => groups },
        ]}
        menu={(role, onEdit) => <RoleMenu role={role} onEdit={onEdit} />}
        dialog={(role, onClose) => (
          <RoleDialog role={role} href={role?.href ?? addHref ?? ''} onClose={onClose} />
        )}
      />
      <Card title="On a terminal">
        <CommandLine text={`skerry role list --org ${shellQuoted(org.name)}`} />
      </Card>
    </div>
  )
}

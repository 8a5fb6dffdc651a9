import { useState } from "preact/hooks"
import { useLocation } from "preact-iso/router"
import { api, done, load, read, readAll, type Schemas } from "../../api/client.ts"
import { withKey } from "../../api/idempotency.ts"
import { useQuery } from "../../api/query.ts"
import { hasRole, member as me, type Role, roles, tenantId, tenants } from "../../api/session.ts"
import { updateListed } from "../../api/update.ts"
import { formatStatus } from "../../ui/format.ts"
import { Choice, Field, filled } from "../../ui/forms/Form.tsx"
import { FormDialog } from "../../ui/forms/FormDialog.tsx"
import { Section } from "../../ui/Page.tsx"
import { Shown } from "../../ui/State.tsx"
import { Badge, Day } from "../../ui/Value.tsx"

type Member = Schemas["Member"]

const abilities: Readonly<Record<Role, string>> = {
  VIEWER: "reads",
  MEMBER: "drafts and changes",
  ADMIN: "also issues, books and manages",
  OWNER: "also exports and deletes the business"
}

/** Only an owner may make somebody an owner. */
const grantable = () => roles.filter((role) => role !== "OWNER" || hasRole("OWNER"))

const RoleChoice = ({ value }: { readonly value: Role }) => (
  <Choice
    name="role"
    label="Role"
    value={value}
    options={grantable().map((role) => [role, `${formatStatus(role)}: ${abilities[role]}`])}
  />
)

const roleOf = (text: string | undefined): Role => roles.find((role) => role === text) ?? "VIEWER"

const memberPath = ({ id }: Member) => ({ path: { memberId: id } })

const readMember = (member: Member) => load(api.GET("/api/v1/members/{memberId}", { params: memberPath(member) }))

const NewMember = ({ onClose }: { readonly onClose: () => void }) => (
  <FormDialog
    title="Add a member"
    about="A member is named by their user ID at the identity provider, the subject (sub) of their token. They have access as soon as they sign in."
    submitLabel="Add member"
    onClose={onClose}
    onSubmit={async (values) => {
      const { issuer, role, subject = "" } = filled(values)
      const body = { subject, role: roleOf(role), ...(issuer === undefined ? {} : { issuer }) }
      await withKey("member", (headers) => read(api.POST("/api/v1/members", { body, headers })))
      return `${subject} is a member`
    }}
  >
    <Field name="subject" label="Subject" isRequired hint="The claim “sub” of their tokens." />
    <RoleChoice value="MEMBER" />
    <Field name="issuer" label="Issuer" hint="The claim “iss” of their tokens. Empty: the same as yours." />
  </FormDialog>
)

interface MemberDialogProps {
  readonly member: Member
  readonly onClose: () => void
}

const ChangeRole = ({ member, onClose }: MemberDialogProps) => (
  <FormDialog
    title={`Role of ${member.subject}`}
    submitLabel="Save"
    onClose={onClose}
    onSubmit={async (values) => {
      const body = { role: roleOf(values["role"]) }
      const saved = await updateListed(
        member,
        body,
        (headers) => read(api.PATCH("/api/v1/members/{memberId}", { params: memberPath(member), body, headers })),
        () => readMember(member)
      )
      if (saved?.id === me.value?.id) me.value = saved
      return saved && `${saved.subject} is ${formatStatus(saved.role)}`
    }}
  >
    <RoleChoice value={member.role} />
  </FormDialog>
)

const isMe = ({ id }: Member) => id === me.value?.id

const RemoveMember = ({ member, onClose }: MemberDialogProps) => {
  const { route } = useLocation()
  return (
    <FormDialog
      title={isMe(member) ? "Leave" : `Remove ${member.subject}`}
      about={
        isMe(member)
          ? "You lose access to this business at once. Only a member can let you in again."
          : `${member.subject} loses access to this business at once. What they did stays.`
      }
      submitLabel={isMe(member) ? "Leave" : "Remove member"}
      onClose={onClose}
      onSubmit={async () => {
        const isRemoved = await updateListed(
          member,
          {},
          async (headers) => {
            await done(api.DELETE("/api/v1/members/{memberId}", { params: memberPath(member), headers }))
            return true
          },
          () => readMember(member)
        )
        if (isRemoved && isMe(member)) {
          route("/console")
          tenants.value = tenants.value.filter(({ id }) => id !== tenantId.value)
        }
        return isRemoved ? `${member.subject} is no member any more` : undefined
      }}
    />
  )
}

type Panel =
  | { readonly kind: "add" }
  | { readonly kind: "role"; readonly member: Member }
  | { readonly kind: "remove"; readonly member: Member }

interface MemberRowProps {
  readonly member: Member
  readonly isLastOwner: boolean
  readonly open: (panel: Panel) => void
}

const MemberRow = ({ isLastOwner, member, open }: MemberRowProps) => {
  const canManage = hasRole(member.role === "OWNER" ? "OWNER" : "ADMIN")
  return (
    <div class="row managed">
      <span class="row-main">
        <strong>
          {member.subject} {isMe(member) && <span class="muted">(you)</span>}
        </strong>
        <span class="muted">
          {isLastOwner ? (
            "The last owner: make another member an owner first."
          ) : (
            <>
              since <Day at={member.createdAt} />
            </>
          )}
        </span>
      </span>
      <Badge status={member.role} />
      {!isLastOwner && canManage && (
        <button
          type="button"
          class="quiet"
          aria-label={`Change role of ${member.subject}`}
          onClick={() => open({ kind: "role", member })}
        >
          Change
        </button>
      )}
      {!isLastOwner && (canManage || isMe(member)) && (
        <button
          type="button"
          class="quiet danger"
          aria-label={isMe(member) ? "Leave" : `Remove ${member.subject}`}
          onClick={() => open({ kind: "remove", member })}
        >
          {isMe(member) ? "Leave" : "Remove"}
        </button>
      )}
    </div>
  )
}

/** Who works with the business, and what each of them may do. */
export const Members = () => {
  const [panel, setPanel] = useState<Panel | undefined>(undefined)
  const query = useQuery("members", () =>
    readAll((cursor) => api.GET("/api/v1/members", { params: { query: { ...(cursor && { cursor }) } } }))
  )
  const close = () => setPanel(undefined)
  const add = hasRole("ADMIN") && (
    <button type="button" class="primary" onClick={() => setPanel({ kind: "add" })}>
      Add a member
    </button>
  )
  return (
    <Section title="Members" action={add}>
      <Shown query={query}>
        {(members) => {
          const ownerCount = members.filter(({ role }) => role === "OWNER").length
          return (
            <ul class="rows">
              {members.map((member) => (
                <li key={member.id}>
                  <MemberRow
                    member={member}
                    isLastOwner={member.role === "OWNER" && ownerCount === 1}
                    open={setPanel}
                  />
                </li>
              ))}
            </ul>
          )
        }}
      </Shown>
      {panel?.kind === "add" && <NewMember onClose={close} />}
      {panel?.kind === "role" && <ChangeRole member={panel.member} onClose={close} />}
      {panel?.kind === "remove" && <RemoveMember member={panel.member} onClose={close} />}
    </Section>
  )
}

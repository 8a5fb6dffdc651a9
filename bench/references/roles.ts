const roles = ["VIEWER", "MEMBER", "ADMIN", "OWNER"]

export const mayActAs = (held: string, needed: string) => roles.indexOf(held) >= roles.indexOf(needed)

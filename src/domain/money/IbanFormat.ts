/** The IBAN in groups of four. This module runs in a browser. */
export const formatIban = (iban: string) => iban.replace(/(.{4})(?=.)/g, "$1 ")

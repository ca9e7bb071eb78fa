// SourceAccess

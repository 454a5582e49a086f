package main

import (
	"fmt"
	"reflect"

	"github.com/flakeid/flakeid/go"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// Customer has a primary key that GORM would treat as a serial number. Without autoIncrement:false, GORM omits an ID of
// 0 from the INSERT, and the database numbers the rows 1, 2, 3.
type Customer struct {
	ID        flakeid.ID `gorm:"primaryKey;autoIncrement:false"`
	Name      string
	Purchases []Purchase
}

type Purchase struct {
	ID         flakeid.ID `gorm:"primaryKey;autoIncrement:false"`
	CustomerID flakeid.ID
	Item       string
}

// issueIDs gives a new ID to each row whose primary key is a flakeid.ID of 0, before GORM inserts the row.
func issueIDs(database *gorm.DB, generator *flakeid.Generator) error {
	idType := reflect.TypeOf(flakeid.ID(0))
	return database.Callback().Create().Before("gorm:create").Register("flakeid:ids", func(tx *gorm.DB) {
		if tx.Statement.Schema == nil {
			return
		}
		for _, field := range tx.Statement.Schema.PrimaryFields {
			if field.FieldType != idType {
				continue
			}
			fill := func(row reflect.Value) {
				if _, isZero := field.ValueOf(tx.Statement.Context, row); !isZero {
					return
				}
				id, err := generator.NextID()
				if err == nil {
					err = field.Set(tx.Statement.Context, row, id)
				}
				tx.AddError(err)
			}
			switch rows := tx.Statement.ReflectValue; rows.Kind() {
			case reflect.Slice, reflect.Array:
				for index := 0; index < rows.Len(); index++ {
					fill(reflect.Indirect(rows.Index(index)))
				}
			case reflect.Struct:
				fill(rows)
			}
		}
	})
}

func withGorm(url string, generator *flakeid.Generator) error {
	database, err := gorm.Open(postgres.Open(url), &gorm.Config{})
	if err != nil {
		return err
	}
	if err := issueIDs(database, generator); err != nil {
		return err
	}
	if err := database.AutoMigrate(&Customer{}, &Purchase{}); err != nil {
		return err
	}
	customer := Customer{Name: "Ada", Purchases: []Purchase{{Item: "tea"}, {Item: "cup"}}}
	if err := database.Create(&customer).Error; err != nil {
		return err
	}
	var found Customer
	if err := database.Preload("Purchases").First(&found, customer.ID).Error; err != nil {
		return err
	}
	if found.ID != customer.ID || len(found.Purchases) != 2 || found.Purchases[0].CustomerID != customer.ID {
		return fmt.Errorf("%+v is not %+v", found, customer)
	}
	fmt.Println("GORM:", found.ID, "bought", found.Purchases[0].ID, "and", found.Purchases[1].ID)
	return nil
}
